"""Targets of a CTC loss that a mask selects are given row by row: the same loss, fewer breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from .proof.fixing import fixed

if TYPE_CHECKING:
    from pathlib import Path

CODE = """\
import torch
from torch.nn.functional import ctc_loss, log_softmax


@torch.compile
def f(logits: torch.Tensor, labels: torch.Tensor, lengths: torch.Tensor, reduction: str):
    mask = (labels >= 0) & (labels != 0)
    targets = labels.masked_select(mask)
    sizes = mask.sum(-1)
    log_probs = log_softmax(logits, dim=-1).transpose(0, 1)
    with torch.backends.cudnn.flags(enabled=False):
        loss = ctc_loss(log_probs, targets, lengths, sizes, 0, reduction, True)
    return loss * 2
"""
FORMS = {
    "as it is": CODE,
    "by a function": CODE.replace(
        "labels.masked_select(mask)", "torch.masked_select(labels, mask)"
    ),
    "by an index": CODE.replace("labels.masked_select(mask)", "labels[mask]"),
    "lengths in place": CODE.replace("    sizes = mask.sum(-1)\n", "").replace(
        "lengths, sizes", "lengths, mask.sum(dim=1)"
    ),
    "masks written out": CODE.replace("    mask = (labels >= 0) & (labels != 0)\n", "")
    .replace("masked_select(mask)", "masked_select(labels > 0)")
    .replace("mask.sum", "(labels > 0).sum"),
    "by keywords": CODE.replace(
        "targets, lengths, sizes, 0,",
        "target_lengths=sizes, input_lengths=lengths, targets=targets, blank=0, reduction=",
    ).replace("reduction= reduction, True", "reduction=reduction, zero_infinity=True"),
    "moved labels": CODE.replace("    mask =", "    labels = labels.to(logits.device)\n    mask ="),
    "without flags": CODE.replace("    with torch.backends.cudnn.flags(enabled=False):\n    ", ""),
}
KEPT_FLAGS = {
    "a selection in it": CODE.replace("    targets = labels.masked_select(mask)\n", "").replace(
        "log_probs, targets", "log_probs, labels.masked_select(mask)"
    ),
    "on": CODE.replace("enabled=False", "enabled=True"),
    "of determinism": CODE.replace("enabled=False", "deterministic=True"),
    "two of them": CODE.replace("enabled=False", "enabled=False, benchmark=True"),
    "around more": CODE.replace("    return", "        log_probs = log_probs.exp()\n    return"),
    "called in it": CODE.replace("lengths, sizes,", "lengths.clone().fill_(9), sizes,"),
}
LEFT = {
    "lengths of another mask": ("sizes = mask.sum(-1)", "sizes = (labels > 1).sum(-1)"),
    "lengths from outside": ("sizes = mask.sum(-1)", "sizes = torch.tensor([3, 2])"),
    "lengths along the rows": ("mask.sum(-1)", "mask.sum(0)"),
    "lengths that keep a dimension": ("mask.sum(-1)", "mask.sum(-1, keepdim=True)"),
    "lengths with more added": ("sizes = mask.sum(-1)", "sizes = mask.sum(-1) - 1"),
    "lengths in a list": ("sizes = mask.sum(-1)", "sizes = mask.sum(-1).tolist()"),
    "a mask that is bound again": ("    sizes", "    mask = labels > 1\n    sizes"),
    "a mask that is changed": ("    sizes", "    mask &= labels > 1\n    sizes"),
    "a mask that is written to": ("    sizes", "    mask[0] = False\n    sizes"),
    "a mask changed by a method": ("    sizes", "    mask.logical_not_()\n    sizes"),
    "a mask under another name": ("    sizes", "    m = mask\n    m[0] = False\n    sizes"),
    "a mask that is handed on": ("    sizes", "    change(mask)\n    sizes"),
    "a view of the mask": ("    sizes", "    mask.view(-1)[0] = False\n    sizes"),
    "lengths that are changed": ("    log_probs", "    sizes += 0\n    log_probs"),
    "lengths written to": ("    log_probs", "    sizes.clamp_(max=2)\n    log_probs"),
    "targets that are used again": ("loss * 2", "loss * 2 + targets.sum()"),
    "targets that are changed": ("    sizes", "    targets = targets + 1\n    sizes"),
    "a mask of integers": ("labels[mask]", "labels[mask.long()]"),
    "one sequence": (
        "log_softmax(logits, dim=-1).transpose(0, 1)",
        "log_softmax(logits, dim=-1).reshape(-1, 6)",
    ),
    "a list of labels": ("    mask =", "    labels = [1, 2]\n    mask ="),
    "targets in one dimension": ("    mask =", "    labels = labels.reshape(-1)\n    mask ="),
    "arguments that are unpacked": ("0, reduction, True", "*(0, reduction, True)"),
    "another loss": ("= ctc_loss(", "= my_loss("),
}


def function(code: str) -> Any:
    names: dict[str, Any] = {"__name__": "program"}
    exec(code.replace("@torch.compile\n", ""), names)
    return names["f"]


def outcome(run: Any, labels: torch.Tensor, reduction: str) -> list[torch.Tensor]:
    torch.manual_seed(0)
    logits = torch.randn(len(labels), 9, 6, requires_grad=True)
    loss = run(logits, labels, torch.tensor([9, 7, 8])[: len(labels)], reduction)
    loss.sum().backward()
    assert logits.grad is not None
    return [loss.detach(), logits.grad]


LABELS = (
    torch.tensor([[1, 2, 3, -100], [2, 2, -100, -100]]),
    torch.tensor([[1, 0, 3, -100], [-100, 2, 0, 5], [-100, -100, 0, 0]]),
    torch.tensor([[4, 4, 1, 5, 2]]),
    torch.full((2, 3), -100),
)


@pytest.mark.parametrize("name", FORMS)
def test_the_loss_and_its_gradients_are_the_same_to_the_last_bit(name: str, tmp_path: Path) -> None:
    after = fixed(FORMS[name], tmp_path, unsafe=True)
    assert "argsort" in after
    assert "cudnn" not in after
    old, new = function(FORMS[name]), function(after)
    for labels in LABELS:
        for reduction in ("mean", "sum", "none"):
            pair = (outcome(old, labels, reduction), outcome(new, labels, reduction))
            assert all(map(torch.equal, *pair))


def test_other_calls_with_other_arguments_do_not_matter(tmp_path: Path) -> None:
    body = CODE.replace("@torch.compile\ndef f", "def loss_of")
    code = f"""{body}

@torch.compile
def f(logits: torch.Tensor, labels: torch.Tensor, lengths: torch.Tensor, reduction: str):
    return loss_of(logits, labels, lengths, reduction)


class Config:
    size = 3


@torch.compile
def g(logits: torch.Tensor, batch, config):
    return loss_of(logits, batch.labels, Config(), "sum") + loss_of(logits, batch.labels, 3, "sum")
"""
    after = fixed(code, tmp_path, unsafe=True)
    assert "argsort" in after
    for labels in LABELS:
        pair = [outcome(function(one), labels, "mean") for one in (code, after)]
        assert all(map(torch.equal, *pair))


@pytest.mark.slow
def test_only_the_loss_itself_breaks_the_graph(tmp_path: Path) -> None:
    counts = []
    for code in (CODE, fixed(CODE, tmp_path, unsafe=True)):
        torch._dynamo.reset()
        seen: list[Any] = []

        def count(graph: Any, _: Any, seen: list[Any] = seen) -> Any:
            seen.append(graph)
            return graph

        whole = torch.compile(function(code), backend=count)
        result = outcome(whole, LABELS[1], "mean")
        assert all(map(torch.equal, result, outcome(function(CODE), LABELS[1], "mean")))
        counts.append(len(seen))
    assert counts == [2, 2]


@pytest.mark.parametrize("name", KEPT_FLAGS)
def test_flags_that_do_more_stay(name: str, tmp_path: Path) -> None:
    after = fixed(KEPT_FLAGS[name], tmp_path, unsafe=True)
    assert "argsort" in after
    assert "cudnn" in after


@pytest.mark.parametrize("name", LEFT)
def test_selections_for_something_else_stay(name: str, tmp_path: Path) -> None:
    old, new = LEFT[name]
    code = FORMS["by an index"].replace(old, new)
    assert code != FORMS["by an index"]
    assert "argsort" not in fixed(code, tmp_path, unsafe=True)
