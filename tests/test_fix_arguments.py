"""A new argument looks like the ones beside it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tclint.diagnostics import Decline
from tclint.fix.conflicts import apply_edits
from tclint.fix.edits import edits_for
from tclint.lint.repair import placed
from tclint.lint.rewrite import AddArgument, Repair, Replace
from tclint.source.file import SourceFile


def _first_call(tree: ast.Module) -> ast.Call:
    return next(node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _add(source: str, template: str, keyword: str | None) -> str | Decline:
    tree = ast.parse(source)
    file = SourceFile.from_text(Path("m.py"), source)
    added = AddArgument(_first_call(tree), template, {}, keyword)
    edits = edits_for(file, tree, placed(Repair("m", (added,))))
    return edits if isinstance(edits, Decline) else apply_edits(file, edits)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = f()\n", "y = f(k=1)\n"),
        ("y = f(\n)\n", "y = f(k=1)\n"),
        ("y = f(a)\n", "y = f(a, k=1)\n"),
        ("y = f(a, b, )\n", "y = f(a, b, k=1)\n"),
        ("y = f(*a, **b)\n", "y = f(*a, **b, k=1)\n"),
        ("y = f(a, k=2, b=3)\n", "y = f(a, k=1, b=3)\n"),
        ("y = f(a, b = 3)\n", "y = f(a, b = 3, k = 1)\n"),
        ("y = f(a, b =\\\n  3)\n", "y = f(a, b =\\\n  3, k=1)\n"),
        ("y = f(\n    b=3, c= 4, **d\n)\n", "y = f(\n    b=3, c= 4, **d, k= 1\n)\n"),
        ("y = f(\n    a,\n)\n", "y = f(\n    a,\n    k=1,\n)\n"),
        ("y = f(\r\n    a,\r\n)\r\n", "y = f(\r\n    a,\r\n    k=1,\r\n)\r\n"),
        ("y = f(\n    a, b\n)\n", "y = f(\n    a, b, k=1\n)\n"),
        ("y = f(a,\n      b)\n", "y = f(a,\n      b,\n      k=1)\n"),
        ("y = f(\n\ta,\n\tb  # of a\n)\n", "y = f(\n\ta,\n\tb,  # of a\n\tk=1\n)\n"),
        ("y = f(\n    a,\n    b,  # of a\n)\n", "y = f(\n    a,\n    b,  # of a\n    k=1,\n)\n"),
    ],
)
def test_keyword_follows_the_layout(before: str, after: str) -> None:
    assert _add(before, "1", "k") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = f()\n", "y = f(())\n"),
        ("y = f(a, k=1)\n", "y = f((), a, k=1)\n"),
        ("y = f(  # why\n    a,\n    b,\n)\n", "y = f(  # why\n    (),\n    a,\n    b,\n)\n"),
        ("y = f(a,\n      b)\n", "y = f((),\n      a,\n      b)\n"),
    ],
)
def test_first_argument_follows_the_layout(before: str, after: str) -> None:
    assert _add(before, "()", None) == after


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("y = f(i for i in x)\n", "generator"),
        ("y = f(a  # of a\n)\n", "`# of a` is in the way"),
    ],
)
def test_what_would_not_read_well_is_declined(source: str, reason: str) -> None:
    declined = _add(source, "1", "k")
    assert isinstance(declined, Decline)
    assert reason in declined.reason


def test_argument_gets_the_parentheses_that_it_needs() -> None:
    assert _add("y = f(a)\n", "b, c", "k") == "y = f(a, k=(b, c))\n"


def test_call_is_moved_renamed_and_extended_at_once() -> None:
    source = "y = g(\n    0.5,\n    dtype=d,\n).to(x.device)  # half\n"
    tree = ast.parse(source)
    moved = _first_call(tree)
    assert isinstance(moved.func, ast.Attribute)
    call, device = moved.func.value, moved.args[0]
    assert isinstance(call, ast.Call)
    rewrites = (
        Replace(moved, "$call", {"call": call}),
        Replace(call.func, "torch.full"),
        AddArgument(call, "()"),
        AddArgument(call, "$device", {"device": device}, "device"),
    )
    file = SourceFile.from_text(Path("m.py"), source)
    edits = edits_for(file, tree, placed(Repair("m", rewrites)))
    assert not isinstance(edits, Decline)
    assert apply_edits(file, edits) == (
        "y = torch.full(\n    (),\n    0.5,\n    dtype=d,\n    device=x.device,\n)  # half\n"
    )
