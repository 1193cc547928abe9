from pathlib import Path

import pytest
from lsprotocol import types

from tclint.diagnostics import Position, Span
from tclint.server.positions import Columns, end_of
from tclint.source.file import SourceFile

UTF8 = types.PositionEncodingKind.Utf8
UTF16 = types.PositionEncodingKind.Utf16
UTF32 = types.PositionEncodingKind.Utf32


def source(text: str) -> SourceFile:
    return SourceFile.from_text(Path("net.py"), text)


@pytest.mark.parametrize(
    ("encoding", "character"),
    [(UTF8, 4 + 2 + 4), (UTF16, 4 + 1 + 2), (UTF32, 4 + 1 + 1)],
    ids=["utf-8 counts bytes", "utf-16 counts code units", "utf-32 counts characters"],
)
def test_columns_behind_an_umlaut_and_an_emoji_are_converted(encoding: str, character: int) -> None:
    file = source('s = ä😋"; print(x)\n')
    columns = Columns(encoding)
    there = columns.position(file, Position(1, 7))
    assert there == types.Position(0, character)
    assert columns.from_client(file, there) == Position(1, 7)


def test_a_column_inside_of_a_character_stands_for_the_place_before_it() -> None:
    file = source("😋x\n")
    assert Columns(UTF16).from_client(file, types.Position(0, 1)) == Position(1, 1)
    assert Columns(UTF8).from_client(file, types.Position(0, 3)) == Position(1, 1)


@pytest.mark.parametrize("encoding", [UTF8, UTF16, UTF32])
def test_places_behind_the_end_are_drawn_in(encoding: str) -> None:
    columns, file = Columns(encoding), source("ab\r\nc")
    assert columns.from_client(file, types.Position(0, 99)) == Position(1, 3)
    assert columns.from_client(file, types.Position(9, 9)) == Position(2, 2)


def test_form_feeds_and_unicode_separators_do_not_end_a_line() -> None:
    file = source("a\f b\u2028c\nd\n")
    span = Span(Position(2, 1), Position(2, 2))
    assert Columns().range(file, span) == types.Range(types.Position(1, 0), types.Position(1, 1))


@pytest.mark.parametrize(
    ("text", "end"),
    [("", Position(1, 1)), ("a", Position(1, 2)), ("a\n", Position(2, 1)), ("a\r", Position(2, 1))],
)
def test_the_end_of_a_file_is_behind_its_last_character(text: str, end: Position) -> None:
    assert end_of(source(text)) == end


def test_a_lone_surrogate_does_not_stop_the_conversion() -> None:
    file = source("'\ud83d'; x\n")
    assert Columns(UTF16).position(file, Position(1, 6)) == types.Position(0, 5)
    assert Columns(UTF8).position(file, Position(1, 6)) == types.Position(0, 7)
