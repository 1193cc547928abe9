"""What code does where a mask selects nothing: which of it may run with no rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tclint.lint.registry import load_rules
from tclint.testing import findings

if TYPE_CHECKING:
    from pathlib import Path

RULES = {rule.code: rule for rule in load_rules()}
HEAD = "import torch\n\n\n@torch.compile(fullgraph=True)\ndef f(x, y):\n"


def asked(body: str, folder: Path) -> list[str]:
    """Why the tests in a captured function are not fixed; an empty text for one that is."""
    code = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    found = findings(RULES["TCL171"], code, folder)
    return [one.declined.reason if one.declined else "" for one in found]


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
    assert asked(body, tmp_path) == [""]


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
    assert asked(body, tmp_path) == [""]


@pytest.mark.parametrize(
    "selection",
    [
        "rows = (x > 0).nonzero()[0]", "rows = torch.where(x > 0, x, 0)", "rows = x[y]",
        "rows = torch.where(x > 0)", "rows = x[x > 0]\nrows = x", "rows = x[x > 0].sum()",
    ],
)  # fmt: skip
def test_what_has_a_known_length_may_be_asked(selection: str, tmp_path: Path) -> None:
    body = f"{selection}\nif len(rows) > 0:\n    y[0] = 1.0\nreturn y"
    assert asked(body, tmp_path) == []


@pytest.mark.parametrize(
    "done",
    [
        "y += 1", "y[0] = 1", "y.add_(1)", "z = x[rows]", "print(rows)", "y = y + 1", "return x",
        "y[rows] = x[rows].mean()", "y.index_add_(rows, 0, x)", "raise ValueError", "x.y = rows",
        "y = x.index_add(0, rows, x[rows])", "y[rows], x[0] = 1, 2", "del y[0]", "z = y[rows] = 1",
        "y[x[rows].argmax()] = 1", "for row in rows:\n        y[row] = 1", "y[lambda: rows] = 1",
        "y[rows] = (z := x[rows])", "y.index_put_((x,), rows)",
    ],
)  # fmt: skip
def test_what_does_more_than_to_write_the_rows_stays_asked(done: str, tmp_path: Path) -> None:
    body = f"rows, = torch.where(x > 0)\nz = x\nif len(rows) > 0:\n    {done}\nreturn y, z"
    [reason] = asked(body, tmp_path)
    assert reason
