from pathlib import Path

import pytest

from tclint.diagnostics import Edit, Position, Span
from tclint.git.diff import Added
from tclint.review.suggestion import Suggestion, suggestion
from tclint.source.file import SourceFile

EVERYTHING = Added(1, 99)


def edit(start: tuple[int, int], end: tuple[int, int], content: str) -> Edit:
    return Edit(Span(Position(*start), Position(*end)), content)


def suggest(text: str, *edits: Edit, added: Added = EVERYTHING) -> Suggestion | None:
    return suggestion(SourceFile.from_text(Path("a.py"), text), edits, added)


def test_the_whole_line_is_given() -> None:
    assert suggest("x = 1\ny = 2\n", edit((2, 5), (2, 6), "3")) == Suggestion(2, 2, ("y = 3",))


def test_edits_of_several_lines_become_one_suggestion() -> None:
    edits = edit((3, 1), (3, 2), "C"), edit((1, 1), (1, 2), "A")
    assert suggest("a\nb\nc\n", *edits) == Suggestion(1, 3, ("A", "b", "C"))


def test_removing_a_line_gives_no_lines_and_a_blank_line_gives_one() -> None:
    assert suggest("a\nb\n", edit((1, 1), (2, 1), "")) == Suggestion(1, 1, ())
    assert suggest("a\nb\n", edit((1, 1), (1, 2), "")) == Suggestion(1, 1, ("",))


def test_an_inserted_line_is_given_with_the_line_that_it_precedes() -> None:
    assert suggest("a\nb\n", edit((2, 1), (2, 1), "new\n")) == Suggestion(2, 2, ("new", "b"))


def test_windows_line_ends_are_left_to_github() -> None:
    text = "a\r\nb\r\n"
    assert suggest(text, edit((1, 1), (1, 2), "x\r\ny")) == Suggestion(1, 1, ("x", "y"))


def test_a_last_line_without_an_end_is_a_line() -> None:
    assert suggest("a\nb", edit((2, 1), (2, 2), "c")) == Suggestion(2, 2, ("c",))


@pytest.mark.parametrize("added", [Added(1, 1), Added(2, 2), Added(3, 9)])
def test_edits_that_reach_out_of_the_added_lines_are_not_suggested(added: Added) -> None:
    edits = edit((1, 1), (1, 1), "import math\n"), edit((2, 1), (2, 2), "x")
    assert suggest("a\nb\n", *edits, added=added) is None


def test_an_insertion_behind_the_last_line_is_not_suggested() -> None:
    assert suggest("a\n", edit((2, 1), (2, 1), "b\n"), added=Added(1, 1)) is None


def test_a_result_that_is_not_whole_lines_is_not_suggested() -> None:
    assert suggest("a\nb\n", edit((1, 2), (2, 1), "")) is None
    assert suggest("a\rb\n", edit((1, 1), (1, 2), "x")) is None
    assert suggest("a\n") is None
