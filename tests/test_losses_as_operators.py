"""The CTC loss becomes an operator: one graph, and the loss and the gradients of eager code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from .test_helpers_as_operators import found, operated

if TYPE_CHECKING:
    from pathlib import Path

CODE = """\
import torch
from torch.nn.functional import ctc_loss, log_softmax


@torch.compile
def f(logits: torch.Tensor, labels: torch.Tensor, lengths: torch.Tensor, reduction: str):
    mask = labels >= 0
    targets = labels.masked_select(mask)
    sizes = mask.sum(-1)
    log_probs = log_softmax(logits, dim=-1).transpose(0, 1)
    with torch.backends.cudnn.flags(enabled=False):
        loss = ctc_loss(log_probs, targets, lengths, sizes, reduction=reduction, zero_infinity=True)
    return loss * 2
"""
BARE = CODE.replace("    with torch.backends.cudnn.flags(enabled=False):\n    ", "").replace(
    "reduction=reduction, zero_infinity=True", "0, reduction, True"
)
LEFT = {
    "lengths in a list": ("lengths, sizes, r", "[9, 7], sizes, r"),
    "flags that are computed": ("enabled=False", "enabled=len(labels) > 9"),
    "another manager": ("enabled=False)", "enabled=False), torch.device('cpu')"),
    "more in the block": ("    return", "        print(loss)\n    return"),
    "flags within flags": (
        "        loss = ",
        "        with torch.backends.cudnn.flags(enabled=True):\n            loss = ",
    ),
    "an argument that is computed by somebody": ("zero_infinity=True", "zero_infinity=labels()"),
    "arguments that are not written out": ("zero_infinity=True", "**{}"),
    "a name that is taken": ("@torch.compile\ndef f", "_ctc_loss = 1\n\n\n@torch.compile\ndef f"),
    "a loss in an expression": ("loss = ", "loss = 2 * "),
}


def function(code: str) -> Any:
    names: dict[str, Any] = {"__name__": "program"}
    exec(code.replace("@torch.compile\n", ""), names)
    return names["f"]


def outcome(run: Any, reduction: str) -> tuple[torch.Tensor, torch.Tensor | None]:
    torch.manual_seed(0)
    logits = torch.randn(2, 9, 6, requires_grad=True)
    labels = torch.tensor([[1, 2, 3, -100], [2, 2, -100, -100]])
    loss = run(logits, labels, torch.tensor([9, 7]), reduction)
    loss.sum().backward()
    return loss.detach(), logits.grad


@pytest.mark.parametrize("code", [CODE, BARE], ids=["flags", "bare"])
def test_a_loss_and_its_gradients_stay_equal_in_one_graph(code: str, tmp_path: Path) -> None:
    from torch._dynamo import config

    after = operated(code, tmp_path)
    assert "custom_op" in after
    left = [one.diagnostic.message for one in found(after, tmp_path).results]
    assert left == [one for one in left if "masked_select" in one]
    settings = {"capture_scalar_outputs": True, "capture_dynamic_output_shape_ops": True}
    before, eager = function(code), function(after)
    torch._dynamo.reset()
    whole = torch.compile(eager, backend="aot_eager", fullgraph=True)
    for reduction in ("sum", "mean", "none"):
        known = outcome(before, reduction)
        with config.patch(settings):
            for run in (eager, whole):
                assert all(map(torch.equal, known, outcome(run, reduction)))


@pytest.mark.slow
def test_the_loss_runs_behind_inductor_s_kernels(tmp_path: Path) -> None:
    from torch._dynamo import config

    known = outcome(function(CODE), "mean")
    torch._dynamo.reset()
    with config.patch(capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True):
        whole = torch.compile(function(operated(CODE, tmp_path)), fullgraph=True)
        for one, other in zip(known, outcome(whole, "mean"), strict=True):
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize(("old", "new"), LEFT.values(), ids=LEFT)
def test_other_losses_stay_calls(old: str, new: str, tmp_path: Path) -> None:
    code = CODE.replace(old, new)
    assert code != CODE
    assert "custom_op" not in operated(code, tmp_path)
    assert "custom_op" not in operated(CODE, tmp_path, min_torch=(2, 6))
