"""Edits of several passes, told as edits of the first text."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tclint.diagnostics import Position
from tclint.fix.conflicts import apply_edits
from tclint.fix.ledger import Ledger
from tclint.source.file import SourceFile

TEXTS = st.text(alphabet="ab \n\r\x0cé", max_size=30)


@st.composite
def passes(draw: st.DrawFn) -> tuple[str, list[list[tuple[int, int, str]]]]:
    """A text, and disjoint changes of what the passes before left."""
    first = text = draw(TEXTS)
    rounds = []
    for _ in range(draw(st.integers(1, 4))):
        places = st.integers(0, len(text))
        cuts = sorted(draw(st.lists(places, max_size=6, unique=True)))
        pairs = zip(cuts[::2], cuts[1::2], strict=False)
        changes = [(start, end, draw(TEXTS)) for start, end in pairs]
        rounds.append(changes)
        for start, end, content in reversed(changes):
            text = text[:start] + content + text[end:]
    return first, rounds


@given(passes())
def test_edits_make_the_last_text_of_the_first(
    made: tuple[str, list[list[tuple[int, int, str]]]],
) -> None:
    first, rounds = made
    file = SourceFile.from_text(Path("m.py"), first)
    ledger, text = Ledger(file), first
    for number, changes in enumerate(rounds):
        ledger.enter((*change, frozenset({number})) for change in changes)
        for start, end, content in reversed(changes):
            text = text[:start] + content + text[end:]
    edits = [edit for edit, _ in ledger.edits()]
    assert apply_edits(file, edits) == text
    spans = [edit.span for edit in edits]
    assert all(one.end < two.start for one, two in pairwise(spans))
    assert all(file.excerpt(edit.span) != edit.content for edit in edits)


def test_fixes_of_two_passes_in_one_place_share_the_edit() -> None:
    file = SourceFile.from_text(Path("m.py"), "f(a)\ng(b)\n")
    ledger = Ledger(file)
    ledger.enter([(2, 3, "a + 1", frozenset({0}))])
    ledger.enter([(4, 5, "+=", frozenset({1})), (9, 10, "h", frozenset({2}))])
    (inside, both), (_, alone) = ledger.edits()
    assert (inside.content, both, alone) == ("a += 1", {0, 1}, {2})


def test_place_of_the_present_text_leads_back_to_the_first() -> None:
    ledger = Ledger(SourceFile.from_text(Path("m.py"), "ab\ncd\nef\n"))
    ledger.enter([(0, 0, "new\n", frozenset({0})), (3, 5, "", frozenset({1}))])
    same = ledger.origin(8, 10)
    assert (same.start, same.end) == (Position(3, 1), Position(3, 3))
    inserted = ledger.origin(1, 3)
    assert inserted.start == Position(1, 1)
