"""No fix is announced that would lose a comment, and none is withheld that keeps them all."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tclint.diagnostics import Decline
from tclint.fix.edits import edits_for
from tclint.lint.comments import keeping_comments
from tclint.lint.repair import placed
from tclint.lint.rewrite import Insert, Repair, Replace, Rewrite
from tclint.source.file import SourceFile

CALLS = """\
y = f(
    g(
        a,  # inside of g
    ),
    # between
    b,
)  # behind
z = h(a)  # behind, too
"""


def _parsed(source: str) -> tuple[ast.Module, SourceFile]:
    return ast.parse(source), SourceFile.from_text(Path("m.py"), source)


def _verdict(source: str, tree: ast.Module, *rewrites: Rewrite) -> tuple[bool, bool]:
    """Whether the fix is announced, and whether it is carried out."""
    file, repair = SourceFile.from_text(Path("m.py"), source), Repair("m", rewrites)
    announced = not isinstance(keeping_comments(repair, file), Decline)
    return announced, not isinstance(edits_for(file, tree, placed(repair)), Decline)


@pytest.mark.parametrize("kept", [False, True])
def test_a_comment_in_what_is_replaced(kept: bool) -> None:
    tree, _ = _parsed(CALLS)
    match tree.body[0]:
        case ast.Assign(value=ast.Call(args=[ast.Call() as inner, _]) as outer):
            target, part = (inner, inner) if kept else (outer, inner)
        case _:
            raise AssertionError
    assert _verdict(CALLS, tree, Replace(target, "k($part)", {"part": part})) == (kept, kept)


def test_the_comment_behind_a_statement_stays_or_goes_with_it() -> None:
    tree, _ = _parsed(CALLS)
    statement = tree.body[1]
    assert _verdict(CALLS, tree, Replace(statement, "")) == (True, True)
    assert _verdict(CALLS, tree, Replace(statement, "k()")) == (True, True)


def test_a_part_that_moves_elsewhere_takes_its_comments_along() -> None:
    tree, _ = _parsed(CALLS)
    first = tree.body[0]
    match first:
        case ast.Assign(value=ast.Call(args=[ast.Call() as inner, _])):
            pass
        case _:
            raise AssertionError
    moved = Insert(first, "k = $part", {"part": inner}), Replace(inner, "k")
    assert _verdict(CALLS, tree, *moved) == (True, True)


def test_blocks_are_left_to_the_one_who_rewrites_them() -> None:
    source = "if a:\n    # why\n    b()\n"
    tree, _ = _parsed(source)
    match tree.body[0]:
        case ast.If(body=[body]) as block:
            announced, _ = _verdict(source, tree, Replace(block, "$body", {"body": body}))
            assert announced
        case _:
            raise AssertionError


def test_the_reason_names_the_comment() -> None:
    tree, file = _parsed(CALLS)
    match tree.body[0]:
        case ast.Assign(value=value):
            declined = keeping_comments(Repair("m", (Replace(value, "k()"),)), file)
            assert declined == Decline("the comment `# inside of g` would be lost")
        case _:
            raise AssertionError
