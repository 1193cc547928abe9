"""Whether a step can be captured in a CUDA graph depends on `capturable`: shown on a GPU."""

from __future__ import annotations

import pytest

from tclint.lint.registry import rule_by_code
from tclint.testing import examples_of

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


[STEP, CAPTURABLE] = (example.code for example in examples_of(rule_by_code("TCL506")))


@pytest.mark.parametrize(("program", "captured"), [(STEP, False), (CAPTURABLE, True)])
def test_only_a_capturable_step_is_captured(program: str, captured: bool) -> None:
    names = {"torch": torch}
    exec(program, names)
    model = torch.nn.Linear(8, 8).cuda()
    x = torch.randn(4, 8, device="cuda")
    model(x).sum().backward()
    torch.cuda.synchronize()
    if captured:
        names["train"](model, x).replay()
    else:
        with pytest.raises(RuntimeError, match="capturable is False"):
            names["train"](model, x)
