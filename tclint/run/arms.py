"""A command run again and again, in turns with other texts for its files and without."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path

from tclint.errors import UserError
from tclint.files import read_text
from tclint.fix.results import FixRun
from tclint.records import record
from tclint.run.events import Kind, events_of
from tclint.run.intervals import Interval, of_median
from tclint.run.launch import Settings, launch
from tclint.run.price import quiet_steps
from tclint.run.read import LARGEST, read_folder, training
from tclint.run.recorded import Loss, Recorded

ROUNDS = 2
"""How often each arm is run, in turns."""
_QUIET = (0, 0, 0)
_ENDED = {128 + signal.SIGINT, 128 + signal.SIGTERM}
"""How a command ends by Ctrl-C, or politely killed."""


@record(frozen=True)
class Arm:
    """One side of a comparison: the steps of each round, its losses, the graph breaks."""

    rounds: tuple[Interval, ...]
    step: Interval
    losses: tuple[tuple[Loss, ...], ...]
    breaks: int

    @property
    def values(self) -> list[list[str]]:
        """The losses of each round, as ``float.hex()``."""
        return [[loss.value for loss in losses] for losses in self.losses]


@record(frozen=True)
class Turns:
    """The arms by their names, and why others made no steps."""

    arms: Mapping[str, Arm]
    failed: Mapping[str, str]


def in_turns(
    command: Sequence[str], arms: Mapping[str, FixRun | None], settings: Settings, desk: Path
) -> Turns:
    """Run the command once for each arm, and over again; None are the files as they are."""
    quiet = replace(settings, window=_QUIET)
    with_texts = {
        name: quiet if fixed is None else _with_texts(quiet, fixed, desk / f"{name}.json")
        for name, fixed in arms.items()
    }
    rounds: dict[str, list[Recorded]] = {name: [] for name in arms}
    failed: dict[str, str] = {}
    for number in range(ROUNDS):
        for name in [name for name in arms if name not in failed]:
            told = one_round(command, desk / f"{name}-{number}", with_texts[name])
            if isinstance(told, str):
                failed[name] = told
            else:
                rounds[name].append(told)
    return Turns({name: _arm(rounds[name]) for name in arms if name not in failed}, failed)


def same_losses(before: Arm, after: Arm) -> tuple[bool | None, str]:
    """Whether the losses are those of the code as found, bit for bit; in words as well.

    None where they cannot be compared.
    """
    rounds, fixed = before.values, after.values
    if not any(rounds):
        return None, "losses unknown: no backward() was seen"
    if any(one != rounds[0] for one in rounds):
        step = _first_difference(rounds[0], next(one for one in rounds if one != rounds[0]))
        return (
            None,
            f"losses cannot be compared: unchanged code gives different ones from step {step} on",
        )
    other = next((one for one in fixed if one != rounds[0]), None)
    if other is None:
        return True, f"same bits in all losses ({len(rounds[0])} steps)"
    step = _first_difference(rounds[0], other)
    if step >= min(len(rounds[0]), len(other)):
        return False, f"{len(rounds[0])} losses before, {len(other)} after"
    old, new = float.fromhex(rounds[0][step]), float.fromhex(other[step])
    return False, f"losses differ from step {step} on: {old:.9g} before, {new:.9g} after"


def nudged(command: Sequence[str], settings: Settings, desk: Path) -> list[str]:
    """The losses of the code as it is, where one bit of each weight changes after the first step.

    None where that run made no steps: how far rounding leads is not known then.
    """
    told = replace(settings, window=_QUIET, more=(*settings.more, ("TCLINT_RECORD_NUDGE", "1")))
    found = one_round(command, desk / "nudged", told)
    return [] if isinstance(found, str) else [loss.value for loss in found.losses]


def _with_texts(settings: Settings, fixed: FixRun, overlay: Path) -> Settings:
    texts = {str(one.path.resolve()): one.after for one in fixed.changed}
    overlay.write_text(json.dumps(texts), encoding="utf-8")
    return replace(settings, overlay=overlay, marker=_moved(settings.marker, fixed))


def _moved(marker: str, fixed: FixRun) -> str:
    """What ends a step, where a fix moved that line of its file."""
    name, _, row = marker.rpartition(":")
    file = next((one for one in fixed.changed if one.path.resolve() == Path(name).resolve()), None)
    if file is None or not row.isdecimal():
        return marker
    before, after = file.before.splitlines(), file.after.splitlines()
    at = int(row) - 1
    for _, start, end, first, last in SequenceMatcher(None, before, after, False).get_opcodes():
        if start <= at < end:
            return f"{name}:{min(first + at - start, max(first, last - 1)) + 1}"
    return marker


def one_round(command: Sequence[str], folder: Path, settings: Settings) -> Recorded | str:
    """What one run recorded, or why it made no steps.

    Raises:
        UserError: somebody ended it.
    """
    folder.mkdir()
    ended = launch(command, folder, settings, output=folder / "output.txt")
    if settings.seconds and ended.seconds >= settings.seconds:
        return f"it was not finished after {settings.seconds:.0f} s"
    if ended.status in _ENDED:
        raise UserError("interrupted: it is not tried")
    found = training(read_folder(folder))
    if not found or found[0].steps is None or not quiet_steps(found[0].steps):
        words = f"the command ended with status {ended.status}" if ended.status else "it ended"
        return f"{words} before it made steps; {_last_words(found, folder)}"
    return found[0]


def _last_words(found: Sequence[Recorded], folder: Path) -> str:
    error = found[0].end.error if found and found[0].end is not None else ""
    if error:
        return f"its error: {error}"
    text = read_text(folder / "output.txt", LARGEST, "replace").strip()
    return f"its last line: {text.splitlines()[-1]}" if text else "it printed nothing"


def _arm(rounds: Sequence[Recorded]) -> Arm:
    steps = [quiet_steps(one.steps) for one in rounds if one.steps is not None]
    breaks = sum(event.kind is Kind.BREAK for event in events_of(rounds[0]))
    return Arm(
        tuple(map(of_median, steps)),
        of_median([ms for each in steps for ms in each]),
        tuple(one.losses for one in rounds),
        breaks,
    )


def _first_difference(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
