"""What each line costs, measured: the command with one remedy each, in turns with it as it is."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tclint.config import Config
from tclint.diagnostics import Applicability
from tclint.errors import UserError
from tclint.fix.results import FixRun
from tclint.records import record
from tclint.run.arms import Arm, Turns, in_turns, same_losses
from tclint.run.intervals import Interval
from tclint.run.launch import Settings
from tclint.run.lines import Line
from tclint.run.proof import Wanted, fixed_for
from tclint.run.session import Answer

_ENOUGH = 20_000
"""Milliseconds of steps in one run that are enough: it need not take as long as the first."""
_FEWEST, _MOST = 20, 400
_PLAIN = "plain"


@record(frozen=True)
class Measured:
    """What a step takes less with one remedy, and whether it still computes the same.

    ``together`` are further lines that the same remedy is for. ``same`` is None where losses
    cannot be compared; ``losses`` says what was found, in words.
    """

    saved: Interval
    same: bool | None
    losses: str
    together: tuple[Line, ...] = ()


@record(frozen=True)
class Ablation:
    """The dearest lines, each with what was measured for it, or the reason why nothing was."""

    found: tuple[tuple[Line, Measured | str], ...]

    def of(self, line: Line) -> Measured | str | None:
        """What was measured for a line, or why nothing was; None where nobody asked for it."""
        return next((told for one, told in self.found if one is line), None)


def remedies_for(
    answer: Answer, top: int, config: Config, wanted: Wanted
) -> tuple[tuple[Line, FixRun | str], ...]:
    """The dearest lines, each with the files without its finding, or why there are none.

    Raises:
        UserError: no line has a remedy.
    """
    lines = [one.line for one in answer.dear if not one.line.only_works][:top]
    found = tuple((line, _remedy(answer, line, config, wanted)) for line in lines)
    if all(isinstance(remedy, str) for _, remedy in found):
        why = dict.fromkeys(str(remedy) for _, remedy in found)
        raise UserError(f"nothing to measure: {'; '.join(why) or 'no line costs anything'}")
    return found


def ablate(
    answer: Answer, remedies: Sequence[tuple[Line, FixRun | str]], settings: Settings, desk: Path
) -> Ablation:
    """Run some steps of the command with each of the remedies, in turns with it as it is.

    Raises:
        UserError: the command as it is makes no steps.
    """
    # A setting may be the remedy for several lines: its texts are run once.
    arms = {_name(one): one for _, one in remedies if not isinstance(one, str)}
    turns = in_turns(answer.command, {_PLAIN: None, **arms}, _shortened(answer, settings), desk)
    if _PLAIN in turns.failed:
        raise UserError(f"nothing is measured: {turns.failed[_PLAIN]}")
    return Ablation(tuple(_told(remedies, turns)))


def _remedy(answer: Answer, line: Line, config: Config, wanted: Wanted) -> FixRun | str:
    """The files with what removes one finding; or why there is nothing to run."""
    finding = line.finding
    if finding is None:
        return "no rule knows it"
    fixed = fixed_for(answer, [finding], config, wanted)
    if fixed.changed:
        return fixed
    if finding.fixable is Applicability.UNSAFE and not wanted.unsafe:
        return "its fix is unsafe: --unsafe-fixes allows it"
    if finding.remedies and not wanted.settings:
        return "it has no fix: `--remedies settings` allows settings"
    return "it has no fix"


def _name(fixed: FixRun) -> str:
    texts = sorted((str(file.path), file.after) for file in fixed.changed)
    return hashlib.sha256(repr(texts).encode()).hexdigest()[:16]


def _shortened(answer: Answer, settings: Settings) -> Settings:
    """As many steps as tell enough, and none after them."""
    step = answer.first.step.value if answer.first else 0.0
    enough = math.ceil(_ENOUGH / step) if step else _MOST
    steps = settings.warm_up + min(max(enough, _FEWEST), _MOST)
    return replace(settings, steps=min(steps, settings.steps or steps))


def _told(
    remedies: Sequence[tuple[Line, FixRun | str]], turns: Turns
) -> Iterator[tuple[Line, Measured | str]]:
    plain = turns.arms[_PLAIN]
    named = [(line, one if isinstance(one, str) else _name(one)) for line, one in remedies]
    for line, name in named:
        arm = turns.arms.get(name)
        if arm is None:
            yield line, turns.failed.get(name, name)
            continue
        others = tuple(one for one, its in named if its == name and one is not line)
        yield line, Measured(saved(plain, arm), *same_losses(plain, arm), others)


def saved(before: Arm, after: Arm) -> Interval:
    """Milliseconds of a step that one arm takes less than the other.

    No run is quite like the one before: the interval holds what each round of turns says too.
    """
    steps = before.step, after.step
    pairs = [steps, *zip(before.rounds, after.rounds, strict=True)]
    each = [one.value - other.value for one, other in pairs]
    low, high = steps[0].low - steps[1].high, steps[0].high - steps[1].low
    return Interval(each[0], min(low, *each), max(high, *each))
