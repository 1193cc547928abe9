"""Between our positions and an editor's.

tclint counts rows and characters from 1. A language client counts lines from 0 and columns in
code units of an encoding that it negotiates with the server: UTF-16 unless it says otherwise.
"""

from __future__ import annotations

from lsprotocol import types

from tclint.diagnostics import Position, Span
from tclint.source.file import SourceFile

_CODECS = {
    types.PositionEncodingKind.Utf8: ("utf-8", 1),
    types.PositionEncodingKind.Utf16: ("utf-16-le", 2),
    types.PositionEncodingKind.Utf32: ("utf-32-le", 4),
}


class Columns:
    """Converts the columns of one client session."""

    def __init__(self, encoding: str = types.PositionEncodingKind.Utf16) -> None:
        self._codec, self._unit = _CODECS[types.PositionEncodingKind(encoding)]

    def position(self, file: SourceFile, position: Position) -> types.Position:
        """Where the client sees a place of ours."""
        prefix = _line(file, position.row)[: position.column - 1]
        if prefix.isascii():
            return types.Position(position.row - 1, position.column - 1)
        units = len(prefix.encode(self._codec, "surrogatepass")) // self._unit
        return types.Position(position.row - 1, units)

    def range(self, file: SourceFile, span: Span) -> types.Range:
        """Where the client sees a span of ours."""
        return types.Range(self.position(file, span.start), self.position(file, span.end))

    def from_client(self, file: SourceFile, position: types.Position) -> Position:
        """Our place for a client's; what lies behind the end of a line or file is drawn in.

        A column inside of a character stands for the place before it.
        """
        if position.line >= len(file.lines):
            return end_of(file)
        line = file.lines[position.line].rstrip("\r\n")
        units = line.encode(self._codec, "surrogatepass")[: position.character * self._unit]
        # A cut surrogate pair of UTF-16 must not survive as half a character.
        prefix = units.decode(self._codec, "ignore")
        return Position(position.line + 1, len(prefix) + 1)


def end_of(file: SourceFile) -> Position:
    """The place behind the last character of a file."""
    if not file.lines:
        return Position(1, 1)
    last = file.lines[-1]
    if last.endswith(("\n", "\r")):
        return Position(len(file.lines) + 1, 1)
    return Position(len(file.lines), len(last) + 1)


def _line(file: SourceFile, row: int) -> str:
    return file.lines[row - 1] if row <= len(file.lines) else ""
