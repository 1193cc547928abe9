"""Which places in a file may set something up: only functions with one are walked for that."""

from __future__ import annotations

import pytest

from tclint.semantics.setup_words import places


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("net = torch.compile(net)", 1),
        ("optimizer = make(net)", 1),
        ("net.register_forward_hook(hook)", 1),
        ("torch._dynamo.config.suppress_errors = True", 1),
        ("if not is_compiled: net.compile()", 1),
        ("if is_unet_compiled and has_compiled_region: run()", 0),
        ("if isinstance(net, torch._dynamo.eval_frame.OptimizedModule): run()", 0),
        ("if torch._dynamo.is_compiling(): run()", 0),
        ("pattern = re.compile('a')", 0),
        ("the optimal size of what is compilable", 0),
    ],
)
def test_what_asks_is_no_set_up(text: str, count: int) -> None:
    assert len([*places(text)]) == count
