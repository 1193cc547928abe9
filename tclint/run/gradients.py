"""Waits in a backward, told at the lines of the forward that cause them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tclint.run.gpu import backward_waits
from tclint.run.recorded import Gradients, Recorded, Syncs

_ENGINE = "_engine_run_backward"
"""Where torch tells of what its threads waited for."""


def with_forward_lines(one: Recorded, folder: Path) -> tuple[Recorded, list[str]]:
    """The same process with those lines, and what could not be read."""
    if one.gradients is None or not one.syncs:
        return one, []
    try:
        waits = backward_waits(folder, one.gradients.file)
    except (OSError, ValueError) as error:
        return one, [f"the profiler's trace of a backward cannot be read: {error}"]
    told = tuple(_told(syncs, one.gradients, waits) for syncs in one.syncs)
    return replace(one, syncs=told), []


def _told(syncs: Syncs, gradients: Gradients, waits: Sequence[int]) -> Syncs:
    """A step waits where another one did: the first for the first, where both wait as often."""
    known = dict(gradients.numbers)
    stacks = [known.get(number) for number in waits]
    first = len(syncs.stacks)
    events: list[tuple[int, int]] = []
    for step, numbers in _by_step(syncs):
        later = [n for n, number in enumerate(numbers) if _in_engine(syncs, number)]
        moved = dict(zip(later, stacks, strict=True)) if len(later) == len(stacks) else {}
        for n, number in enumerate(numbers):
            to = moved.get(n)
            events.append((step, number if to is None else first + to))
    return replace(
        syncs,
        stacks=(*syncs.stacks, *gradients.stacks),
        events=tuple(events),
        backward=tuple(range(first, first + len(gradients.stacks))),
    )


def _by_step(syncs: Syncs) -> Iterator[tuple[int, list[int]]]:
    steps: dict[int, list[int]] = {}
    for step, number in syncs.events:
        steps.setdefault(step, []).append(number)
    yield from steps.items()


def _in_engine(syncs: Syncs, number: int) -> bool:
    stack = syncs.stacks[number]
    return bool(stack) and stack[-1].function == _ENGINE
