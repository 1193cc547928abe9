"""Comments that silence findings."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tclint.diagnostics import Position, Span
from tclint.source import suppress
from tclint.source.file import SourceFile
from tclint.source.suppress import statement_span, suppressions


def source(text: str) -> SourceFile:
    return SourceFile.from_text(Path("a.py"), text)


def on(row: int, end_row: int | None = None) -> Span:
    return Span(Position(row, 1), Position(end_row or row, 2))


@pytest.mark.parametrize(
    "comment",
    [
        "# tclint: ignore",
        "#tclint:ignore",
        "# tclint: ignore[TCL101]",
        "# tclint: ignore [TCL101]",
        "# tclint: ignore[TCL205, tcl101]  -- the loop is cold",
        "# type: ignore # tclint: ignore[TCL101]",
        "# tclint: ignore[TCL205]  # noqa: TCL101",
        "# noqa",
        "# NoQA: tcl101",
        "#noqa:E501,TCL101",
        "# noqa: E501 TCL101 since it is cold",
    ],
)
def test_comment_silences(comment: str) -> None:
    assert suppressions(source(f"x = 1\ny = f()  {comment}\n")).suppresses("TCL101", on(2), None)


@pytest.mark.parametrize(
    "comment",
    [
        "# tclint: ignore[TCL102]",
        "# noqa: E501",
        "# noqa: because I say so",
        "# flake8: noqa",
        "# tclint ignore",
        "# tclint: ignore[]",
        "# tclint: ignore[TCL101",
        "# tclint: ignore: TCL101",
        "# tclint: disable[TCL101]",
        "# noqaTCL101",
    ],
)
def test_comment_does_not_silence(comment: str) -> None:
    found = suppressions(source(f"x = 1\ny = f()  {comment}\n"))
    assert not found.suppresses("TCL101", on(2), None)


def test_comment_speaks_for_its_line_only() -> None:
    found = suppressions(source("x = f()  # tclint: ignore\ny = f()\n"))
    assert not found.suppresses("TCL101", on(2), None)


def test_comment_in_a_string_does_not_count() -> None:
    text = 'x = f("# tclint: ignore")\ny = """\n# noqa\n"""\n'
    found = suppressions(source(text))
    assert not found.suppresses("TCL101", on(1), None)
    assert not found.suppresses("TCL101", on(3), None)
    assert not list(found.unused({"TCL101"}))


def test_comment_on_the_first_or_last_line_of_the_statement_counts() -> None:
    text = "x = f(  # noqa: TCL101\n    a.item(),\n    b,\n)  # noqa: TCL102\n"
    found = suppressions(source(text))
    assert found.suppresses("TCL101", on(2), on(1, 4))
    assert found.suppresses("TCL102", on(2), on(1, 4))
    assert not found.suppresses("TCL101", on(2), None)


def test_comment_alone_on_its_line_speaks_for_the_next_code() -> None:
    text = "# tclint: ignore[TCL101]\n\n# why: cold\nx = f()\ny = f()\n"
    found = suppressions(source(text))
    assert found.suppresses("TCL101", on(4), None)
    assert not found.suppresses("TCL101", on(5), None)


def test_noqa_alone_on_its_line_speaks_for_nothing_else() -> None:
    assert not suppressions(source("# noqa\nx = f()\n")).suppresses("TCL101", on(2), None)


@pytest.mark.parametrize("row", [1, 9])
def test_ignore_file_speaks_for_every_line(row: int) -> None:
    found = suppressions(source("x = 1\n# tclint: ignore-file[TCL101]\n"))
    assert found.suppresses("TCL101", on(row), None)
    assert not found.suppresses("TCL102", on(row), None)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_do_not_matter(end: str) -> None:
    text = end.join(["x = 1", "\x0cy = f()  # caf\u00e9 # noqa: TCL101", "z = 1", ""])
    assert suppressions(source(text)).suppresses("TCL101", on(2), None)


def test_comments_before_broken_code_count() -> None:
    found = suppressions(source("x = f()  # noqa\ny = (\n"))
    assert found.suppresses("TCL101", on(1), None)


BLOCK = """\
a = f()
# tclint: disable[TCL101]
b = f()
# tclint: disable
c = f()
# tclint: enable[TCL101]
d = f()
# tclint: enable
e = f()
# tclint: disable[TCL102]
g = f()
"""


@pytest.mark.parametrize(
    ("code", "rows"),
    [("TCL101", {3, 5, 7}), ("TCL102", {5, 7, 11, 99}), ("TCL103", {5, 7})],
)
def test_a_block_is_silenced_down_to_its_end(code: str, rows: set[int]) -> None:
    found = suppressions(source(BLOCK))
    assert {row for row in (1, 3, 5, 7, 9, 11, 99) if found.suppresses(code, on(row), None)} == rows
    assert not list(found.mistakes())


def test_the_end_of_a_block_without_a_beginning_is_a_mistake() -> None:
    found = suppressions(source("# tclint: disable[TCL101]\nx = 1\n# tclint: enable[TCL102]\n"))
    (only,) = found.mistakes()
    assert only.span.start.row == 3
    assert "no `# tclint: disable` with these codes above" in (only.mistake or "")


def test_words_in_strings_neither_open_nor_close_a_block() -> None:
    text = '"""\n# tclint: disable\n"""\n# tclint: disable\nx = "# tclint: enable"\ny = 1\n'
    found = suppressions(source(text))
    assert not found.suppresses("TCL101", on(1), None)
    assert found.suppresses("TCL101", on(6), None)


def test_unused_comments_are_told_with_their_codes() -> None:
    text = "\n".join(
        [
            "a = f()  # tclint: ignore[TCL101, TCL102]",
            "b = f()  # tclint: ignore",
            "c = f()  # noqa",
            "d = f()  # noqa: E501",
            "e = f()  # noqa: E501, TCL101",
            "g = f()  # tclint: ignore[TCL999]",
            "h = f()  # tclint: ignore",
        ]
    )
    found = suppressions(source(text))
    assert found.suppresses("TCL101", on(1), None)
    assert found.suppresses("TCL101", on(2), None)
    unused = [(s.row, codes) for s, codes in found.unused({"TCL101", "TCL102"})]
    assert unused == [(1, ("TCL102",)), (5, ("TCL101",)), (7, ())]


@pytest.mark.parametrize(
    ("comment", "mistake"),
    [
        ("# tclint: silence", "'silence' is not known after `# tclint:`"),
        ("# tclint: disable", "`disable` goes on a line of its own"),
        ("# tclint: ignore[", "the bracket is not closed"),
        ("# tclint: ignore[]", "the brackets are empty"),
        ("# tclint: ignore: TCL101", "codes go in brackets: `# tclint: ignore[CODE]`"),
        ("# tclint: ignore-file[item]", "'ITEM' is not a rule's code"),
    ],
)
def test_mistakes_are_told(comment: str, mistake: str) -> None:
    found = suppressions(source(f"x = 1  {comment}\ny = '{comment}'\n"))
    (only,) = found.mistakes()
    assert mistake in (only.mistake or "")
    assert only.span.start == Position(1, 8)


def test_file_is_tokenised_only_when_a_finding_depends_on_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[SourceFile] = []
    real = suppress._comments

    def counting(file: SourceFile) -> dict[int, int]:
        calls.append(file)
        return real(file)

    monkeypatch.setattr(suppress, "_comments", counting)
    found = suppressions(source("import os  # noqa: F401\nx = f()\ny = f()  # noqa\n"))
    assert not found.suppresses("TCL101", on(1), None)
    assert not found.suppresses("TCL101", on(2), None)
    assert not list(found.unused({"TCL101"}))
    assert not calls
    assert found.suppresses("TCL101", on(3), None)
    assert found.suppresses("TCL102", on(3), None)
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("x = f(\n    1,\n)\n", (1, 3)),
        ("if x:\n    y\n", (1, 1)),
        ("if x: y\n", (1, 1)),
        ("if (\n    x\n):\n    # why\n\n    y\n", (1, 3)),
        ("def f(\n    a,\n):\n    @g\n    def h(): ...\n", (1, 3)),
        ("match x:\n    case 1:\n        y\n", (1, 1)),
    ],
)
def test_statement_span_is_the_header_of_a_block(text: str, rows: tuple[int, int]) -> None:
    span = statement_span(source(text), ast.parse(text).body[0])
    assert (span.start.row, span.end.row) == rows
