"""Which lines of a text changes touch: only those are compared, however long the text is."""

from __future__ import annotations

from bisect import bisect_right
from difflib import SequenceMatcher
from itertools import accumulate
from typing import TYPE_CHECKING

from tclint.fix.reduce import common
from tclint.records import record
from tclint.source.file import spliced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Change = tuple[int, int, str]
    Opcode = tuple[str, int, int, int, int]
    Split = Callable[[str], Sequence[str]]


@record(frozen=True)
class _Part:
    """Lines ``first`` to ``last``, without that one, and all changes inside of them."""

    first: int
    last: int
    changes: tuple[Change, ...]


class ChangedLines(SequenceMatcher[str]):
    """The lines of a text before and after changes that do not overlap, and what differs.

    Each change is a start and an end in the text before, and what to put there. ``split`` cuts a
    text into lines with their ends.
    """

    def __init__(self, before: str, changes: Iterable[Change], split: Split) -> None:
        super().__init__(None, (), (), autojunk=False)
        self.before = split(before)
        self.after: list[str] = []
        self._starts = [*accumulate(map(len, self.before), initial=0)]
        self._opcodes: list[Opcode] = []
        done = 0
        for part in self._parts(sorted(changes)):
            self._keep(done, part.first)
            self._change(part, before, split)
            done = part.last
        self._keep(done, len(self.before))

    def get_opcodes(self) -> list[Opcode]:  # type: ignore[override]
        """What differs, in order, as :class:`difflib.SequenceMatcher` says it."""
        return self._opcodes

    def _parts(self, changes: Iterable[Change]) -> Iterator[_Part]:
        part: _Part | None = None
        for change in changes:
            first, last = self._touched(change)
            if part is not None and first < part.last:
                part = _Part(part.first, max(part.last, last), (*part.changes, change))
                continue
            if part is not None:
                yield part
            part = _Part(first, last, (change,))
        if part is not None:
            yield part

    def _touched(self, change: Change) -> tuple[int, int]:
        """The lines that a change touches; none where it inserts whole lines."""
        start, end, content = change
        first, last = self._line(start), self._line(end)
        is_whole = start == self._starts[first] and (not content or content.endswith("\n"))
        ends_before = is_whole and end == self._starts[last]
        return first, min(last + (not ends_before), len(self.before))

    def _line(self, offset: int) -> int:
        # Behind the last line nothing begins where that line has no end.
        is_open = bool(self.before) and not self.before[-1].endswith("\n")
        return bisect_right(self._starts, offset, hi=len(self._starts) - is_open) - 1

    def _keep(self, first: int, last: int) -> None:
        new = len(self.after)
        self.after += self.before[first:last]
        self._note("equal", first, last, new)

    def _change(self, part: _Part, before: str, split: Split) -> None:
        start, end = self._starts[part.first], self._starts[part.last]
        inside = [(a - start, b - start, content) for a, b, content in part.changes]
        old, new = self.before[part.first : part.last], split(spliced(before[start:end], inside))
        head = common(old, new)
        tail = common(old[head:][::-1], new[head:][::-1])
        known = len(self.after)
        self.after += new
        self._note("equal", part.first, part.first + head, known)
        place = part.first + head, known + head
        rest = old[head : len(old) - tail], new[head : len(new) - tail]
        for tag, i, j, k, m in SequenceMatcher(None, *rest, autojunk=False).get_opcodes():
            self._note(tag, place[0] + i, place[0] + j, place[1] + k, place[1] + m)
        self._note("equal", part.last - tail, part.last, len(self.after) - tail)

    def _note(self, tag: str, i: int, j: int, k: int, m: int | None = None) -> None:
        """Enter what comes next, as one with what stands before it where both are of a kind."""
        m = k + j - i if m is None else m
        if i == j and k == m:
            return
        last = self._opcodes[-1] if self._opcodes else ("", 0, 0, 0, 0)
        if last[0] and (last[0] == "equal") == (tag == "equal"):
            tag = tag if tag in ("equal", last[0]) else "replace"
            self._opcodes[-1] = tag, last[1], j, last[3], m
        else:
            self._opcodes.append((tag, i, j, k, m))
