"""Choose fixes that do not get in each other's way, and apply their edits to a text."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from tclint.records import record

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
    taken: list[Rows] = []
    made: set[Edit] = set()
    for group in sorted(groups, key=lambda group: (group.edits, group.code)):
        if chosen and group.edits == chosen[-1].edits:
            chosen.append(group)
            continue
        own = [edit for edit in group.edits if not (edit in made and _inserts(edit))]
        rows = [_rows(edit) for edit in own]
        if any(_meet(one, other) for one in rows for other in taken):
            continue
        chosen.append(group)
        taken += rows
        made.update(own)
    return chosen


def apply_edits(file: SourceFile, edits: Iterable[Edit]) -> str:
    """The file's text after edits that do not overlap; equal ones are made once."""
    begins = [0, *accumulate(map(len, file.lines))]
    pieces: list[str] = []
    done = 0
    for edit in sorted(set(edits)):
        start = begins[edit.span.start.row - 1] + edit.span.start.column - 1
        pieces += [file.text[done:start], edit.content]
        done = begins[edit.span.end.row - 1] + edit.span.end.column - 1
    return "".join([*pieces, file.text[done:]])


def flatten(groups: Sequence[Group]) -> list[Edit]:
    """All edits of some fixes."""
    return [edit for group in groups for edit in group.edits]


def _inserts(edit: Edit) -> bool:
    return edit.span.start == edit.span.end


def _rows(edit: Edit) -> Rows:
    """The rows that an edit touches; between two rows when it inserts whole lines there."""
    start, end = edit.span.start, edit.span.end
    if start == end and start.column == 1 and edit.content.endswith(("\n", "\r")):
        return start.row - 0.5, start.row - 0.5
    last = end.row - 1 if end.column == 1 and end.row > start.row else end.row
    return start.row, last


def _meet(one: Rows, other: Rows) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]
