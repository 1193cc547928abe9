"""A block that a tensor's number decides is computed, and its results are chosen on the device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from .proof.fixing import fixed

if TYPE_CHECKING:
    from pathlib import Path

CODE = """\
import torch


@torch.compile
def f(x: torch.Tensor, mask: torch.Tensor, more: bool):
    count = x.shape[0]
    kinds = x.long()
    if mask is not None and (mask.sum().item() < mask.shape[0] * mask.shape[1]):
        # padding is a kind of its own
        count = count + 1
        kept = mask.to(torch.bool)
        kinds = torch.where(kept, kinds, torch.tensor(count - 1, device=x.device))
    elif more:
        count = count + 1  # one more
    places = torch.arange(3, device=x.device) * count
    return kinds + places[:, None]
"""
TEST = "mask is not None and (mask.sum().item() < mask.shape[0] * mask.shape[1])"
FORMS = {
    "as it is": CODE,
    "without a flag": CODE.replace(TEST, "mask.sum().item() < mask.shape[0] * mask.shape[1]"),
    "the other way round": CODE.replace(TEST, "more and 9 > mask.sum().item()"),
    "not equal": CODE.replace(TEST, "mask.sum().item() != 12"),
    "without more": CODE.replace("    elif more:\n        count = count + 1  # one more\n", ""),
    "with an else": CODE.replace("elif more:", "else:"),
    "two more": CODE.replace(
        "    places", "    elif count > 7:\n        kinds = kinds + 7\n    places", 1
    ),
    "a maximum": CODE.replace(TEST, "more and mask.min().item() < 1"),
}
MASKS = (torch.ones(3, 4).long(), torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]]))


def function(code: str) -> Any:
    names: dict[str, Any] = {"__name__": "program"}
    exec(code.replace("@torch.compile\n", ""), names)
    return names["f"]


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMS)
def test_each_way_gives_what_it_gave_in_one_graph(name: str, tmp_path: Path) -> None:
    after = fixed(FORMS[name], tmp_path, unsafe=True)
    assert "chosen = " in after
    assert ("# one more" in after) == ("# one more" in FORMS[name])
    assert "# padding is a kind" in after
    before = function(FORMS[name])
    torch._dynamo.reset()
    whole = torch.compile(function(after), backend="eager", fullgraph=True)
    x = torch.arange(12.0).reshape(3, 4)
    for mask in MASKS:
        for more in (False, True):
            for run in (function(after), whole):
                assert torch.equal(run(x, mask, more), before(x, mask, more))


def test_no_tensor_goes_the_other_way(tmp_path: Path) -> None:
    after = fixed(CODE, tmp_path, unsafe=True)
    x = torch.arange(12.0).reshape(3, 4)
    for more in (False, True):
        assert torch.equal(function(after)(x, None, more), function(CODE)(x, None, more))


def test_a_safe_fix_leaves_the_block_alone(tmp_path: Path) -> None:
    assert fixed(CODE, tmp_path) == CODE


def test_what_is_fixed_stays_as_it_is(tmp_path: Path) -> None:
    after = fixed(CODE, tmp_path, unsafe=True)
    assert fixed(after, tmp_path, unsafe=True) == after


LEFT = {
    "a call": ("count = count + 1\n        kept", "count = count + len(more())\n        kept"),
    "a print": ("        kept =", "        print(count)\n        kept ="),
    "a return": ("        kept =", "        return x\n        kept ="),
    "a raise": ("        kept =", "        raise ValueError\n        kept ="),
    "a store": ("        kept =", "        kinds[0] = 1\n        kept ="),
    "a change in place": ("        kept =", "        count += 1\n        kept ="),
    "a write": ("        kept =", "        y = kinds.add_(1)\n        kept ="),
    "a loop": ("        kept =", "        for _ in x:\n            y = 1\n        kept ="),
    "another block": ("        kept =", "        if more:\n            y = 1\n        kept ="),
    "an attribute": ("        kept =", "        f.kept = 1\n        kept ="),
    "drawn numbers": ("mask.to(torch.bool)", "torch.rand_like(x) > 0"),
    "a size": ("places = torch.arange(3, device=x.device) * count", "places = torch.arange(count)"),
    "a slice": ("return kinds", "return kinds[:count]"),
    "an index": ("return kinds", "return kinds[count - 1]"),
    "a range": ("return kinds", "for _ in range(count):\n        x = x + 1\n    return kinds"),
    "handed on": ("return kinds", "g(count)\n    return kinds"),
    "returned": ("return kinds", "return count, kinds"),
    "a branch on it": ("return kinds", "if count > 3:\n        return x\n    return kinds"),
    "a number of its own": ("* count", "* (2 * count)"),
    "read in a function": ("    places", "    g = lambda: count\n    places"),
    "a global": ("    count =", "    global count\n    count ="),
    "no value before": ("    count = x.shape[0]\n", ""),
    "asked first": ("mask is not None and (mask.sum().item()", "mask.sum().item() and (more"),
    "or": ("is not None and", "is None or"),
    "a chain": ("mask.sum().item() <", "0 < mask.sum().item() <"),
    "a list": ("mask.shape[0] * mask.shape[1]", "x.tolist()[0][0]"),
    "an else of its own": ("elif more:", "elif more or print():"),
    "another test of a tensor": ("elif more:", "elif x.sum() > 3:"),
    "a kept number": ("elif more:\n        count = count + 1", "elif more:\n        count = 1.5"),
    "in a try": (
        "    if mask",
        "    try:\n        pass\n    finally:\n        pass\n    while mask",
    ),
}


@pytest.mark.parametrize("name", LEFT)
def test_other_blocks_stay(name: str, tmp_path: Path) -> None:
    old, new = LEFT[name]
    code = CODE.replace(old, new, 1)
    assert code != CODE
    assert "chosen = " not in fixed(code, tmp_path, unsafe=True)
