"""The command with its models compiled, in turns with it as it is: what compiling would bring.

Nothing is written: the recorder compiles each model at its first call, as ``model.compile()``
would. Whole, by its repeated blocks, and on a GPU with CUDA graphs; the fastest is run again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from tclint.errors import UserError
from tclint.records import record
from tclint.run.arms import nudged, one_round
from tclint.run.events import Kind, events_of
from tclint.run.intervals import NOTHING, Interval, of_median
from tclint.run.launch import Settings
from tclint.run.outlook import Tried
from tclint.run.price import quiet_steps
from tclint.run.recorded import Loss, Model, Recorded, Steps
from tclint.run.scale import ROUNDING, SAME, change_of
from tclint.run.session import Answer

_WORDS: Mapping[str, str] = {
    "model": "the model{}",
    "blocks": "its blocks{}",
    "graphs": "the model{}, with CUDA graphs",
}
"""What may be compiled, as a report says it, without the loss or with it."""
_WITH_LOSS = "+loss"
_ENOUGH = 10_000
"""Milliseconds of eager steps in a run that are enough."""
_FEWEST, _MOST = 30, 300
_PATIENCE = 300.0
"""Seconds that all runs together may take longer than eager ones do."""
_QUIET = (0, 0, 0)
_NS = 1e9
_MS = 1e6
_MILLI = 1e3


@record(frozen=True)
class Round:
    """One run: what it recorded, with its steps, or why it made none, or not all of them."""

    recorded: Recorded | None
    why: str = ""

    @property
    def steps(self) -> Steps | None:
        """The steps that were made."""
        return None if self.recorded is None else self.recorded.steps

    @property
    def quiet(self) -> list[float]:
        """Milliseconds of each step that counts."""
        return [] if self.steps is None else quiet_steps(self.steps)

    @property
    def step(self) -> Interval:
        """Milliseconds of a step."""
        return of_median(self.quiet)


def try_compile(answer: Answer, settings: Settings, desk: Path) -> Tried:
    """Run the command eager and compiled; what compiling brings, or why it cannot be tried.

    Raises:
        UserError: the command as it is makes no steps.
    """
    first = answer.first
    if first is None or first.recorded.steps is None:
        raise UserError("compiling is not tried: no step was found")
    if first.recorded.compiled:
        raise UserError("compiling is not tried: something is compiled already")
    trial = _Trial(answer.command, _shortened(answer, settings), desk)
    eager = trial.run("eager")
    if eager.recorded is None:
        raise UserError(f"compiling is not tried: {eager.why}")
    found = {"model": trial.run("model")}
    if _may_have_blocks(found["model"]):
        found["blocks"] = trial.run("blocks")
    # A model that cannot be compiled is none for CUDA graphs either.
    if first.recorded.process.device and _is_of_use(found["model"], eager):
        found["graphs"] = trial.run("graphs")
    best = _fastest(found, eager)
    if best is None:
        return _failed(answer, found)
    if _has_loss(found[best]):
        found[best + _WITH_LOSS] = trial.run(best + _WITH_LOSS)
        best = _fastest(found, eager) or best
    tried = _tried(best, trial, eager, found[best])
    return replace(tried, others=_that_failed(found, eager))


def _may_have_blocks(one: Round) -> bool:
    """Whether a model has repeated blocks, or it is not known."""
    models = () if one.recorded is None else one.recorded.models
    return not models or any(model.blocks for model in models)


def _is_of_use(one: Round, eager: Round) -> bool:
    """Whether a model was compiled, and steps were made to the end that eager code comes to."""
    return bool(_compiled(one)) and bool(one.quiet) and (not one.why or bool(eager.why))


def _that_failed(found: Mapping[str, Round], eager: Round) -> tuple[tuple[str, str], ...]:
    """What was compiled in vain, and why."""
    failed = {kind: one.why for kind, one in found.items() if not _is_of_use(one, eager)}
    return tuple((_words(kind), why) for kind, why in failed.items() if why)


def _fastest(found: Mapping[str, Round], eager: Round) -> str | None:
    ran = {kind: one.step.value for kind, one in found.items() if _is_of_use(one, eager)}
    return min(ran, key=lambda kind: ran[kind], default=None)


def _compiled(one: Round) -> list[Model]:
    """The models of which something was compiled."""
    models = () if one.recorded is None else one.recorded.models
    return [model for model in models if model.compiled and not model.loss]


def _has_loss(one: Round) -> bool:
    """Whether a module gives the loss of the models that are called."""
    return one.recorded is not None and any(model.loss for model in one.recorded.models)


def _words(kind: str) -> str:
    what, loss, _ = kind.partition(_WITH_LOSS)
    return _WORDS[what].format(" and its loss" if loss else "")


class _Trial:
    """Runs the command in one way after the other, each with its own cache of compiled code."""

    def __init__(self, command: Sequence[str], settings: Settings, desk: Path) -> None:
        self._command = command
        self._settings = settings
        self._desk = desk / "compiling"
        self._desk.mkdir()
        self._count = 0
        self._usual = 0.0
        self._patience = _PATIENCE

    def run(self, kind: str, **more: str) -> Round:
        """One run; what it is given ``more`` are variables."""
        self._count += 1
        folder = self._desk / f"compile-{self._count}"
        cache = self._desk / f"inductor-{kind}"
        told = (("TORCHINDUCTOR_CACHE_DIR", str(cache)), *more.items())
        compiled = "" if kind == "eager" else kind
        settings = replace(self._settings, compile=compiled, more=told, seconds=self._limit())
        begun = time.monotonic()
        found = one_round(self._command, folder, settings)
        self._account(time.monotonic() - begun)
        return Round(None, found) if isinstance(found, str) else Round(found, _cut_short(found))

    def _limit(self) -> float:
        """Seconds that a run may take; the first, which is eager, may take what it takes."""
        return 2 * self._usual + self._patience if self._usual else 0.0

    def _account(self, seconds: float) -> None:
        self._usual = self._usual or seconds
        self._patience -= min(self._patience, max(0.0, seconds - self._usual))

    def nudged(self) -> list[str]:
        """The losses of the plain command where one bit of the weights is another."""
        return nudged(self._command, replace(self._settings, seconds=self._limit()), self._desk)


def _cut_short(one: Recorded) -> str:
    """Why a run made no more steps; empty where it came to its own end, or to that of the trial."""
    count = len(one.steps.ends) if one.steps is not None else 0
    after = f"after {count} step{'' if count == 1 else 's'}"
    if one.end is None:
        return f"it was killed {after}"
    return f"{after}: {one.end.error}" if one.end.error else ""


def _tried(kind: str, trial: _Trial, eager: Round, compiled: Round) -> Tried:
    again = [trial.run("eager"), trial.run(kind)]
    twice = _is_of_use(again[1], again[0]) and bool(again[0].quiet)
    pairs = [(eager, compiled), (again[0], again[1])] if twice else [(eager, compiled)]
    before = _of_rounds([one for one, _ in pairs])
    after = _of_rounds([one for _, one in pairs])
    told = compiled.recorded
    if told is None:  # nothing that was not run is told of
        raise UserError("compiling is not tried: no run made steps")
    model = _compiled(compiled)[0]
    events = events_of(told)
    cold = _until_settled(compiled) - _until_settled(eager)
    return Tried(
        what=_words(kind),
        place=(model.place.filename, model.place.row),
        eager=before,
        compiled=after,
        breaks=sum(event.kind is Kind.BREAK for event in events),
        recompiles=sum(bool(one.recompile_reason) for one in told.compiled),
        cold_start=cold,
        pays_after=pays_after(max(0.0, cold), before, after),
        change=_change(kind, trial, [eager, *again[:1]], compiled),
    )


def _of_rounds(rounds: Sequence[Round]) -> Interval:
    """The step of some runs; no run is quite like another: the interval holds that of each."""
    whole = of_median([ms for one in rounds for ms in one.quiet])
    each = [one.step.value for one in rounds]
    return Interval(whole.value, min([whole.low, *each]), max([whole.high, *each]))


def _until_settled(one: Round) -> float:
    """Seconds from the start of a run to the last of its steps that took far longer than others."""
    if one.recorded is None or one.steps is None:
        return 0.0
    usual = 3 * one.step.value
    ends = one.steps.ends
    spent = sum((b - a) / _MS - one.step.value for a, b in pairwise(ends) if (b - a) / _MS > usual)
    return (ends[0] - one.recorded.process.started) / _NS + spent / _MILLI


def pays_after(cold: float, before: Interval, after: Interval) -> int | None:
    """The steps after which ``cold`` seconds of compiling have come back; None where none does."""
    saved = before.value - after.value
    if saved <= 0 or after.high >= before.low:
        return None
    return math.ceil(cold * _MILLI / saved)


def _change(kind: str, trial: _Trial, eager: Sequence[Round], compiled: Round) -> str:
    """What happens to the losses; empty where eager runs differ from each other, or tell none."""
    rounds = [_losses(one) for one in eager if one.recorded is not None]
    if not any(rounds) or any(one != rounds[0] for one in rounds):
        return ""
    after = _losses(compiled)
    if change_of(rounds[0], after) == SAME:
        return SAME
    reach = trial.nudged()
    found = change_of(rounds[0], after, reach)
    if found == ROUNDING:
        return found
    # Compiled dropout draws other numbers: that alone is no other behaviour.
    drawn = trial.run(kind, TCLINT_RECORD_DRAWS="1")
    return change_of(rounds[0], _losses(drawn), reach) if drawn.recorded is not None else found


def _losses(one: Round) -> list[str]:
    losses: Sequence[Loss] = () if one.recorded is None else one.recorded.losses
    return [loss.value for loss in losses]


def _shortened(answer: Answer, settings: Settings) -> Settings:
    """As many steps as tell enough, and none after them; nothing is looked at closely."""
    step = answer.first.step.value if answer.first else 0.0
    enough = math.ceil(_ENOUGH / step) if step else _MOST
    steps = settings.warm_up + min(max(enough, _FEWEST), _MOST)
    return replace(settings, window=_QUIET, steps=min(steps, settings.steps or steps))


def _failed(answer: Answer, found: Mapping[str, Round]) -> Tried:
    """No way to compile worked: the first is told of with its reason, and the others."""
    place = (
        answer.first.recorded.steps.place if answer.first and answer.first.recorded.steps else None
    )
    where = (place.filename, place.row) if place else ("?", 0)
    whys = [(_words(kind), one.why) for kind, one in found.items() if one.why]
    none = (_words("model"), "no module with parameters is called")
    what, why = (whys or [none])[0]
    others = tuple(one for one in whys if one[1] != why)
    return Tried(what, where, NOTHING, NOTHING, 0, 0, 0.0, None, "", why, others)
