"""What faster loading could bring where no finding says so, by what takes the time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from tclint.lint.rule import SpentIn
from tclint.run.host import COLLATE, LOADING, READING, TRANSFER, WAITING
from tclint.run.outlook import Move
from tclint.run.scale import SAME
from tclint.run.session import Answer

_DRAWN = f"{SAME} unless samples draw random numbers"
_PINS = "the thread that pins memory, for which the loop's Python code waits"
_MS = 1e6
_MOVES: Mapping[tuple[str, ...], tuple[str, str]] = {
    (READING, COLLATE): (
        "workers (`num_workers`), or a dataset that reads a batch at once (`__getitems__`),",
        _DRAWN,
    ),
    (WAITING,): ("more workers, or cheaper samples,", _DRAWN),
    (TRANSFER,): (
        "pinned memory (`pin_memory=True`) and `.to(device, non_blocking=True)`",
        SAME,
    ),
}
"""By what takes the time: what makes it shorter, and what that changes."""


def loading_moves(answer: Answer) -> Iterator[Move]:
    """The moves, each with the most that it can bring: all of the time that it is about."""
    if any(one.line.spent_in is SpentIn.LOADING for one in answer.dear):
        return
    spent: Counter[str] = Counter()
    for group in answer.account.groups:
        for what, ms in group.details if group.kind == LOADING else ():
            spent[what] += ms  # type: ignore[assignment]
    if not (answer.first and answer.first.activity):
        del spent[TRANSFER]
    for whats, (remedy, change) in _MOVES.items():
        if ms := sum(spent[what] for what in whats):
            yield Move(" and ".join(whats), ms, remedy, change)
    if ms := _pinning(answer):
        yield Move(_PINS, ms, "a small dataset that stays on the GPU", _DRAWN)


def _pinning(answer: Answer) -> float:
    """Milliseconds of a step in which the host, if the GPU waits for it, may wait for that thread.

    While one of them runs Python code, the other cannot.
    """
    first = answer.first
    windows = () if first is None else first.recorded.samples
    steps = sum(max(1, one.last - one.first + 1) for one in windows)
    if first is None or first.activity is None or not steps:
        return 0.0
    ms = sum(one.pinning for one in windows) / _MS / steps
    return min(ms, answer.account.mean) * first.idle_share
