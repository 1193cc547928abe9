"""Note which lines of a package a call executes, and what of them (child only)."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from benchmarks.models.record import Place

# Each instruction takes so many bytes.
UNIT = 2


@dataclass(frozen=True, slots=True)
class Executed:
    """The lines of a file that ran, and the expressions of the same functions that did not.

    What stands behind an ``and`` that was decided before it is such an expression.
    """

    rows: tuple[int, ...]
    unreached: tuple[Place, ...]


def executed_lines(
    call: Callable[[], object], counts: Callable[[str], bool]
) -> dict[str, Executed]:
    """What runs while ``call`` does, by file, of files that count."""
    ran: dict[CodeType, set[int]] = defaultdict(set)

    def in_frame(frame: FrameType, event: str, _: Any) -> Callable[..., Any]:
        if event == "opcode":
            ran[frame.f_code].add(frame.f_lasti)
        return in_frame

    def on_call(frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        if not counts(frame.f_code.co_filename):
            return None
        frame.f_trace_opcodes = True
        return in_frame

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        call()
    finally:
        sys.settrace(before)
    return _by_file(ran)


def _by_file(ran: Mapping[CodeType, set[int]]) -> dict[str, Executed]:
    reached: dict[str, set[Place]] = defaultdict(set)
    known: dict[str, set[Place]] = defaultdict(set)
    for code, offsets in ran.items():
        for offset, place in _places(code):
            known[code.co_filename].add(place)
            if offset in offsets:
                reached[code.co_filename].add(place)
    return {file: _executed(here, known[file]) for file, here in reached.items()}


def _executed(reached: set[Place], known: set[Place]) -> Executed:
    return Executed(tuple(sorted({place[0] for place in reached})), tuple(sorted(known - reached)))


def _places(code: CodeType) -> Iterator[tuple[int, Place]]:
    """Each instruction's offset, and the expression that it belongs to."""
    for unit, (row, end_row, column, end_column) in enumerate(code.co_positions()):
        if row is not None and end_row is not None:
            yield unit * UNIT, (row, column or 0, end_row, end_column or 0)
