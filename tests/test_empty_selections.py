"""Tests of whether a mask selects anything, in the words that people use for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tclint.lint.registry import load_rules
from tclint.testing import findings

if TYPE_CHECKING:
    from pathlib import Path

RULES = {rule.code: rule for rule in load_rules()}
HEAD = "import torch\n\n\n@torch.compile(fullgraph=True)\ndef f(x, y):\n"


def asked(body: str, folder: Path) -> int:
    """How many tests in a captured function are reported."""
    code = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    return len(findings(RULES["TCL171"], code, folder))


@pytest.mark.parametrize(
    "test",
    [
        "rows.numel() > 0", "rows.numel() != 0", "rows.numel()", "rows.nelement() >= 1",
        "len(rows)", "len(rows) > 0", "rows.size(0) > 0", "rows.size()[0]", "rows.shape[0] >= 1",
        "not rows.shape[0] == 0", "not rows.shape[0] < 1",
    ],
)  # fmt: skip
def test_an_empty_selection_is_asked_for_in_many_words(test: str, tmp_path: Path) -> None:
    body = f"rows, = torch.where(x > 0)\nif {test}:\n    y[rows] = 1.0\nreturn y"
    assert asked(body, tmp_path) == 1


@pytest.mark.parametrize(
    "selection",
    [
        "rows = torch.where(x > 0)[0]", "(rows, _) = torch.where(x > 0)", "rows = x[x > 0].long()",
        "rows = torch.nonzero(x > 0, as_tuple=True)[0]", "rows = (x > 0).nonzero()[:, 0]",
        "rows = (x > 0).nonzero().flatten()", "rows = torch.masked_select(x, x > 0)",
    ],
)  # fmt: skip
def test_selections_are_known_by_what_makes_them(selection: str, tmp_path: Path) -> None:
    body = f"{selection}\nif rows.numel() > 0:\n    y[rows] = 1.0\nreturn y"
    assert asked(body, tmp_path) == 1


@pytest.mark.parametrize(
    "selection",
    [
        "rows = (x > 0).nonzero()[0]", "rows = torch.where(x > 0, x, 0)", "rows = x[y]",
        "rows = torch.where(x > 0)", "rows = x[x > 0]\nrows = x", "rows = x[x > 0].sum()",
    ],
)  # fmt: skip
def test_what_has_a_known_length_may_be_asked(selection: str, tmp_path: Path) -> None:
    body = f"{selection}\nif len(rows) > 0:\n    y[0] = 1.0\nreturn y"
    assert asked(body, tmp_path) == 0
