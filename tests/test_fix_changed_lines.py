"""Only the lines that changes touch are compared, and what comes of it is a diff like any other."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

import pytest

from tclint.diagnostics import Edit, Position, Span
from tclint.fix.changed_lines import ChangedLines
from tclint.fix.conflicts import Group, choose
from tclint.fix.diff import hunks
from tclint.source.file import spliced, split_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

Change = tuple[int, int, str]


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _draw(chance: random.Random) -> tuple[str, list[Change]]:
    """A text of a few lines that look alike, and changes that do not overlap."""
    text = "".join(chance.choice(["a\n", "b\n", "\n", "ab\n", "a"]) for _ in range(12))
    borders = sorted(chance.sample(range(len(text) + 1), 6))
    contents = ["", "\n", "a", "a\n", "b\na\n", "b"]
    pairs = zip(borders[::2], borders[1::2], strict=True)
    changes = [(i, chance.choice([i, j]), chance.choice(contents)) for i, j in pairs]
    return text, chance.sample(changes, chance.randint(0, 3))


@pytest.mark.parametrize("seed", range(400))
def test_the_opcodes_turn_the_lines_into_the_others(seed: int) -> None:
    text, changes = _draw(random.Random(seed))
    lines = ChangedLines(text, changes, _lines)
    assert lines.before == _lines(text)
    assert "".join(lines.after) == spliced(text, changes)
    place = (0, 0)
    for tag, i, j, k, m in lines.get_opcodes():
        assert (i, k) == place
        assert (lines.before[i:j] == lines.after[k:m]) == (tag == "equal")
        assert tag != "insert" or (i == j and k < m)
        assert tag != "delete" or (k == m and i < j)
        place = (j, m)
    assert place == (len(lines.before), len(lines.after))
    kinds = [tag == "equal" for tag, *_ in lines.get_opcodes()]
    assert all(one != other for one, other in itertools.pairwise(kinds))


def test_lines_that_look_alike_far_away_are_not_compared() -> None:
    text = "x = 1\n" * 1000
    lines = ChangedLines(text, [(0, 0, "y = 2\n"), (len(text), len(text), "z = 3\n")], split_lines)
    assert lines.get_opcodes() == [
        ("insert", 0, 0, 0, 1),
        ("equal", 0, 1000, 1, 1001),
        ("insert", 1000, 1000, 1001, 1002),
    ]


def test_a_mark_stands_in_front_of_the_first_line() -> None:
    assert hunks("a\nb\n", [(2, 3, "c")], "\ufeff") == "@@ -1,2 +1,2 @@\n \ufeffa\n-b\n+c\n"


def _edit(first: int, last: int, content: str) -> Edit:
    return Edit(Span(Position(first, 2), Position(last, 3)), content)


def _meet(one: Sequence[tuple[int, int]], other: Sequence[tuple[int, int]]) -> bool:
    return any(a <= d and c <= b for a, b in one for c, d in other)


@pytest.mark.parametrize("seed", range(100))
def test_fixes_that_touch_one_row_wait_for_each_other(seed: int) -> None:
    chance = random.Random(seed)
    groups = []
    for number in range(12):
        rows = sorted((first := chance.randint(1, 30), first + chance.randint(0, 3)) for _ in "ab")
        groups.append(Group("TCL101", tuple(_edit(a, b, f"{number}") for a, b in rows), number))
    chosen = {group.number for group in choose(groups)}
    rows_of = {g.number: [(e.span.start.row, e.span.end.row) for e in g.edits] for g in groups}
    taken: list[tuple[int, int]] = []
    for group in sorted(groups, key=lambda group: (group.edits, group.code)):
        if _meet(rows_of[group.number], taken):
            assert group.number not in chosen
        else:
            assert group.number in chosen
            taken += rows_of[group.number]
