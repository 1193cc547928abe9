"""Choose fixes that do not get in each other's way, and apply their edits to a text."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from tclint.records import record
from tclint.source.file import spliced

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tclint.diagnostics import Edit
    from tclint.source.file import SourceFile

Rows = tuple[float, float]


@record(frozen=True)
class Group:
    """The edits of one fix: all of them are applied, or none; ``number`` names the fix."""

    code: str
    edits: tuple[Edit, ...]
    number: int = 0


def choose(groups: Iterable[Group]) -> list[Group]:
    """The fixes to apply together, in the order of their places; the others have to wait.

    Two fixes that touch one line wait for each other: the second one's proof may rest on what the
    first one changes. An insertion that two fixes share, such as an import, is no conflict, and
    neither are findings with one and the same fix.
    """
    chosen: list[Group] = []
    taken = _Taken()
    made: set[Edit] = set()
    for group in sorted(groups, key=lambda group: (group.edits, group.code)):
        if chosen and group.edits == chosen[-1].edits:
            chosen.append(group)
            continue
        own = [edit for edit in group.edits if not (edit in made and _inserts(edit))]
        rows = [_rows(edit) for edit in own]
        if any(map(taken.meets, rows)):
            continue
        chosen.append(group)
        taken.add(rows)
        made.update(own)
    return chosen


def apply_edits(file: SourceFile, edits: Iterable[Edit]) -> str:
    """The file's text after edits that do not overlap; equal ones are made once."""
    return spliced(file.text, changes_of(file, set(edits)))


def changes_of(file: SourceFile, edits: Iterable[Edit]) -> list[tuple[int, int, str]]:
    """Edits as places in the file's text, with what to put there."""
    return [
        (file.offset(edit.span.start), file.offset(edit.span.end), edit.content) for edit in edits
    ]


def flatten(groups: Sequence[Group]) -> list[Edit]:
    """All edits of some fixes."""
    return [edit for group in groups for edit in group.edits]


def meet(one: Edit, other: Edit) -> bool:
    """True for two edits that touch one row, or insert lines at one place."""
    (first, last), (start, end) = _rows(one), _rows(other)
    return first <= end and start <= last


def _inserts(edit: Edit) -> bool:
    return edit.span.start == edit.span.end


def _rows(edit: Edit) -> Rows:
    """The rows that an edit touches; between two rows when it inserts whole lines there."""
    start, end = edit.span.start, edit.span.end
    if start == end and start.column == 1 and edit.content.endswith(("\n", "\r")):
        return start.row - 0.5, start.row - 0.5
    last = end.row - 1 if end.column == 1 and end.row > start.row else end.row
    return start.row, last


class _Taken:
    """The rows that chosen fixes touch, as runs that do not meet, in order."""

    def __init__(self) -> None:
        self._first: list[float] = []
        self._last: list[float] = []

    def meets(self, rows: Rows) -> bool:
        """Whether some of these rows are taken."""
        number = bisect_left(self._last, rows[0])
        return number < len(self._first) and self._first[number] <= rows[1]

    def add(self, several: Iterable[Rows]) -> None:
        """Take runs of rows, which may meet each other but none that is taken."""
        for first, last in _united(several):
            number = bisect_left(self._last, first)
            self._first.insert(number, first)
            self._last.insert(number, last)


def _united(several: Iterable[Rows]) -> list[Rows]:
    """Runs of rows in order, those that meet as one."""
    runs: list[Rows] = []
    for first, last in sorted(several):
        if runs and first <= runs[-1][1]:
            runs[-1] = runs[-1][0], max(runs[-1][1], last)
        else:
            runs.append((first, last))
    return runs
