"""Keep the books of a file that is fixed in several passes: what stands where what stood."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from dataclasses import replace
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from tclint.diagnostics import Edit, Span
from tclint.records import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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
        self._pieces = [Piece(0, len(file.text))]
        self._ends = [len(file.text)]

    def enter(self, changes: Iterable[tuple[int, int, str, Makers]]) -> None:
        """Enter changes of the present text: disjoint ``(start, end, content, makers)``."""
        rest = _Rest(self._pieces)
        pieces: list[Piece] = []
        for start, end, content, makers in sorted(changes, key=lambda change: change[:3]):
            pieces += rest.taken(start)
            gone = rest.taken(end)
            first, last = (gone[0].start, gone[-1].end) if gone else (rest.next, rest.next)
            every = makers.union(*(piece.makers for piece in gone))
            pieces.append(Piece(first, last, content, every))
        self._pieces = [*pieces, *rest.taken(None)]
        self._ends = [*accumulate(piece.size for piece in self._pieces)]

    def wrote(self, offset: int) -> bool:
        """True where the present text comes from a fix."""
        piece = self._at(offset)
        return piece is not None and piece.text is not None

    def makers(self, offset: int) -> Makers:
        """The numbers of the fixes that wrote what stands at a place of the present text."""
        piece = self._at(offset)
        return frozenset() if piece is None or piece.text is None else piece.makers

    def _at(self, offset: int) -> Piece | None:
        number = bisect_right(self._ends, offset)
        return self._pieces[number] if number < len(self._pieces) else None

    def edits(self) -> Iterator[tuple[Edit, Makers]]:
        """The edits that make the present text of the first one, in order."""
        for piece in self._written():
            if piece.text != self._file.text[piece.start : piece.end]:
                span = Span(self._file.place(piece.start), self._file.place(piece.end))
                yield Edit(span, piece.text or ""), piece.makers

    def origin(self, start: int, end: int) -> Span:
        """Where in the first text a stretch of the present one comes from."""
        first, last = self._original(start), self._original(end, end=True)
        return Span(self._file.place(first), self._file.place(max(first, last)))

    def _original(self, offset: int, *, end: bool = False) -> int:
        """The place in the first text; what fixes wrote is taken as a whole."""
        number = (bisect_left if end else bisect_right)(self._ends, offset)
        if number == len(self._pieces):
            return len(self._file.text)
        piece = self._pieces[number]
        if piece.text is None:
            return piece.end + offset - self._ends[number]
        return piece.end if end else piece.start

    def _written(self) -> list[Piece]:
        """What fixes wrote; neighbours are one, since nothing of the file tells them apart."""
        pieces = (piece for piece in self._pieces if piece.text is not None or piece.size)
        runs = groupby(pieces, key=lambda piece: piece.text is not None)
        return [_joined([*run]) for is_written, run in runs if is_written]


class _Rest:
    """The pieces of a text that are still to be gone through, from the first to the last."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = deque(pieces)
        self._place = 0
        self._end = pieces[-1].end

    @property
    def next(self) -> int:
        """The place in the first text of what comes next."""
        return self._pieces[0].start if self._pieces else self._end

    def taken(self, end: int | None) -> list[Piece]:
        """The pieces up to a place of the present text, or all; one that lies across it is cut."""
        taken: list[Piece] = []
        while self._pieces and (end is None or self._place < end):
            piece = self._pieces.popleft()
            if end is not None and self._place + piece.size > end:
                piece, rest = _halves(piece, end - self._place)
                self._pieces.appendleft(rest)
            taken.append(piece)
            self._place += piece.size
        return taken


def _halves(piece: Piece, size: int) -> tuple[Piece, Piece]:
    if piece.text is None:
        middle = piece.start + size
        return Piece(piece.start, middle), Piece(middle, piece.end)
    # Which half took the original's place cannot be told; together they do.
    head = replace(piece, text=piece.text[:size])
    return head, replace(piece, start=piece.end, text=piece.text[size:])


def _joined(run: Sequence[Piece]) -> Piece:
    text = "".join(piece.text or "" for piece in run)
    makers = frozenset().union(*(piece.makers for piece in run))
    return Piece(run[0].start, run[-1].end, text, makers)
