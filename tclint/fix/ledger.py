"""Keep the books of a file that is fixed in several passes: what stands where what stood."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from tclint.diagnostics import Edit, Position, Span
from tclint.records import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tclint.source.file import SourceFile

Makers = frozenset[int]


@record(frozen=True)
class Piece:
    """What stands in the place of ``original[start:end]``: ``text``, or None for the same.

    ``makers`` are the numbers of the fixes that had a hand in it.
    """

    start: int
    end: int
    text: str | None = None
    makers: Makers = frozenset()

    @property
    def size(self) -> int:
        """The length of what stands there now."""
        return self.end - self.start if self.text is None else len(self.text)


class Ledger:
    """The pieces that a file's present text is made of, by the places of its first one."""

    def __init__(self, file: SourceFile) -> None:
        """Start with the text as it is."""
        self._file = file
        self._begins = [0, *accumulate(map(len, file.lines))]
        self._pieces = [Piece(0, len(file.text))]

    def enter(self, changes: Iterable[tuple[int, int, str, Makers]]) -> None:
        """Enter changes of the present text: disjoint ``(start, end, content, makers)``."""
        for start, end, content, makers in sorted(changes, key=lambda c: c[:3], reverse=True):
            self._enter(start, end, content, makers)

    def wrote(self, offset: int) -> bool:
        """True where the present text comes from a fix."""
        piece = self._at(offset)
        return piece is not None and piece.text is not None

    def makers(self, offset: int) -> Makers:
        """The numbers of the fixes that wrote what stands at a place of the present text."""
        piece = self._at(offset)
        return frozenset() if piece is None or piece.text is None else piece.makers

    def _at(self, offset: int) -> Piece | None:
        place = 0
        for piece in self._pieces:
            place += piece.size
            if offset < place:
                return piece
        return None

    def edits(self) -> Iterator[tuple[Edit, Makers]]:
        """The edits that make the present text of the first one, in order."""
        for piece in self._written():
            if piece.text != self._file.text[piece.start : piece.end]:
                span = Span(self._position(piece.start), self._position(piece.end))
                yield Edit(span, piece.text or ""), piece.makers

    def origin(self, start: int, end: int) -> Span:
        """Where in the first text a stretch of the present one comes from."""
        first, last = self._original(start), self._original(end, end=True)
        return Span(self._position(first), self._position(max(first, last)))

    def _original(self, offset: int, *, end: bool = False) -> int:
        """The place in the first text; what fixes wrote is taken as a whole."""
        place = 0
        for piece in self._pieces:
            stop = place + piece.size
            if offset < stop or (end and offset == stop):
                if piece.text is None:
                    return piece.start + offset - place
                return piece.end if end else piece.start
            place = stop
        return len(self._file.text)

    def _enter(self, start: int, end: int, content: str, makers: Makers) -> None:
        first, last = self._split(start), self._split(end)
        if first < last:
            gone = self._pieces[first:last]
            makers = makers.union(*(piece.makers for piece in gone))
            new = Piece(gone[0].start, gone[-1].end, content, makers)
        else:
            at = self._pieces[first].start if first < len(self._pieces) else len(self._file.text)
            new = Piece(at, at, content, makers)
        self._pieces[first:last] = [new]

    def _split(self, offset: int) -> int:
        """Make a border at ``offset`` of the present text; the number of the piece after it."""
        place = 0
        for number, piece in enumerate(self._pieces):
            if offset <= place:
                return number
            inside = offset - place
            if inside < piece.size:
                self._pieces[number : number + 1] = _halves(piece, inside)
                return number + 1
            place += piece.size
        return len(self._pieces)

    def _written(self) -> list[Piece]:
        """What fixes wrote; neighbours are one, since nothing of the file tells them apart."""
        written: list[Piece] = []
        kept_since = True
        for piece in self._pieces:
            if piece.text is None:
                kept_since = kept_since or piece.size > 0
            elif kept_since:
                written.append(piece)
                kept_since = False
            else:
                written[-1] = _joined(written[-1], piece)
        return written

    def _position(self, offset: int) -> Position:
        row = min(bisect_right(self._begins, offset), max(len(self._file.lines), 1))
        return Position(row, offset - self._begins[row - 1] + 1)


def _halves(piece: Piece, size: int) -> tuple[Piece, Piece]:
    if piece.text is None:
        middle = piece.start + size
        return Piece(piece.start, middle), Piece(middle, piece.end)
    # Which half took the original's place cannot be told; together they do.
    head = replace(piece, text=piece.text[:size])
    return head, replace(piece, start=piece.end, text=piece.text[size:])


def _joined(one: Piece, other: Piece) -> Piece:
    text = (one.text or "") + (other.text or "")
    return Piece(one.start, other.end, text, one.makers | other.makers)
