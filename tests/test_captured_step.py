"""Whether a step can be captured in a CUDA graph depends on `capturable`: shown on a GPU."""

from __future__ import annotations

import pytest

from tclint_rules.optimizers.captured_step import PROGRAM

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


@pytest.mark.parametrize(("more", "captured"), [("", False), (", capturable=True", True)])
def test_only_a_capturable_step_is_captured(more: str, captured: bool) -> None:
    names = {"torch": torch}
    exec(PROGRAM.format(more=more), names)
    model = torch.nn.Linear(8, 8).cuda()
    x = torch.randn(4, 8, device="cuda")
    model(x).sum().backward()
    torch.cuda.synchronize()
    if captured:
        names["train"](model, x).replay()
    else:
        with pytest.raises(RuntimeError, match="capturable is False"):
            names["train"](model, x)
