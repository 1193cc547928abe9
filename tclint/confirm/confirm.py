"""Keep the fixes that every target confirms."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.confirm.bench import open_bench
from tclint.confirm.pace import Step, with_times
from tclint.confirm.remedies import Remedied, with_remedies
from tclint.confirm.rows import real
from tclint.confirm.select import Search
from tclint.confirm.trials import Fixer, Trials, settings_in
from tclint.diagnostics import Applicability, Effect
from tclint.files import read_bytes
from tclint.fix.results import NO_REMEDIES, FixKey, FixRun, Remedies
from tclint.records import record
from tclint.report.fixes.outcome import (
    Ground,
    Outcome,
    Reason,
    ReportedFix,
    Status,
    Verification,
    VerifiedTarget,
    Worth,
)
from tclint.verify.errors import TargetError

if TYPE_CHECKING:
    from tclint.lint.engine import Run
    from tclint.verify.results import Probe
    from tclint.verify.session import Job

Keys = frozenset[FixKey]
SAFE, UNSAFE, FIXES = "safe fixes", "unsafe fixes", "safe and unsafe fixes"
UNSURE = "safe fixes of low confidence"
_UNTOLD = (Ground.NOT_EXECUTED, Ground.NO_BREAK)
"""Why a fix is dropped whose finding no report shows, if it is not worth telling."""
Show = Callable[[int, str], None]


@record(frozen=True)
class Plan:
    """What to confirm, and how.

    ``fix`` makes fixes; where ``loaded_only``, files that no target loads are left out.
    ``most_runs`` bounds how often targets are compiled. ``remedies`` are for what fixes leave.
    """

    fix: Fixer
    jobs: Sequence[Job]
    root: Path
    most_runs: int
    loaded_only: bool
    remedies: Remedies = NO_REMEDIES


def confirm(plan: Plan, status: Status, show: Show = lambda done, doing: None) -> Outcome:
    """Run the targets with and without fixes; what is kept gets ``status``.

    ``show`` is told the number of runs so far, and what goes on.

    Raises:
        TargetError: a target does not run or cannot be compared, or its files change meanwhile.
    """
    with ExitStack() as stack:
        benches = [stack.enter_context(open_bench(job, plan.root)) for job in plan.jobs]
        before: list[Probe] = []
        for bench in benches:
            show(len(before), f"{bench.job.name}: before")
            before.append(bench.before())
        loaded = {Path(name): _content(name) for probe in before for name in probe.loaded}

        def may(key: FixKey) -> bool:
            return not plan.loaded_only or real(key.path) in loaded

        # What may break the graph is tried where something does.
        unsure = Remedies(unsure=any(probe.user_breaks for probe in before))
        wanted = plan.fix(may, unsure)
        trials = Trials(plan.fix, benches, before, wanted, plan.most_runs, show)
        choice = _Choice(trials, wanted)
        final = trials.fixed(choice.kept) if choice.kept else plan.fix(lambda _: False, NO_REMEDIES)
        start = Remedied(trials, choice.kept, choice.steps)
        done = with_remedies(start, plan.remedies, final.remaining)
        paced = with_times(benches, done.steps, partial(show, done.trials.runs))
        done = choice.without_slow_steps(replace(done, steps=tuple(paced)))
        if done.kept != start.kept:
            keep = Remedies(settings_in(done.kept), unsure=True)
            final = plan.fix(done.kept.__contains__, keep)
        targets = tuple(
            _target(bench.job.name, probe, done.trials.last(done.kept, number))
            for number, (bench, probe) in enumerate(zip(benches, before, strict=True))
        )
        changed = next((path for path, old in loaded.items() if _content(path) != old), None)
        if changed is not None:
            raise TargetError(f"{changed} has changed while fixes were verified; run tclint again")
        fixes = [*choice.reported(final, status), *_settings_reported(final, status)]
        return Outcome(
            tuple(_with_steps(fixes, done.steps)),
            final.changed,
            _within(final.remaining, loaded) if plan.loaded_only else final.remaining,
            Verification(targets, trials.runs, _worth_telling(done.steps)),
        )


def _settings_reported(final: FixRun, status: Status) -> Iterator[ReportedFix]:
    """The settings that are kept."""
    for fix in final.fixes:
        if fix.settles:
            yield ReportedFix(fix, status, Reason(Ground.CONFIRMED, "breaks are gone with it"))


def _with_steps(fixes: Iterable[ReportedFix], steps: Sequence[Step]) -> Iterator[ReportedFix]:
    """The fixes, each with the step that it was part of."""
    for one in fixes:
        kinds = (step.worth.kind for step in steps if one.fix.key in step.items - step.base)
        yield replace(one, step=next(kinds, None))


def _worth_telling(steps: tuple[Step, ...]) -> tuple[Worth, ...]:
    """Nothing where safe fixes are all there is, untimed: the targets tell what became of them."""
    worth = tuple(step.worth for step in steps)
    return worth if any(one.kind != SAFE or one.pace for one in worth) else ()


class _Choice:
    """Which fixes to keep, and the reason for each."""

    def __init__(self, trials: Trials, wanted: FixRun) -> None:
        self._trials = trials
        self._fixes = {fix.key: fix for fix in wanted.fixes}
        self._dropped: dict[FixKey, Reason] = {}
        self._needed: dict[FixKey, str] = {}
        self._left = trials.breaks(frozenset())
        self.kept = self._choose()
        self.steps = tuple(self._steps())

    def reported(self, final: FixRun, status: Status) -> list[ReportedFix]:
        """Every fix with its reason; those that are kept with their edits among each other."""
        made = {fix.key: fix for fix in final.fixes}
        rests = Reason(Ground.DEPENDS, "rests on a fix that was dropped")
        reported: list[ReportedFix] = []
        for key, fix in sorted(self._fixes.items()):
            if key in made:
                reported.append(ReportedFix(made[key], status, self._why_kept(key)))
            else:
                reason = self._dropped.get(key, rests)
                if not fix.unsure or reason.ground not in _UNTOLD:
                    reported.append(ReportedFix(fix, Status.DROPPED, reason))
        return reported

    def _choose(self) -> Keys:
        for key, fix in self._fixes.items():
            safe = fix.applicability is Applicability.SAFE and not fix.unsure
            if fix.unsure and fix.diagnostic.effect is not Effect.GRAPH_BREAK:
                self._dropped[key] = Reason(
                    Ground.NO_BREAK, "its confidence is too low, and it is not about a graph break"
                )
            elif not safe and not self._trials.ran(key):
                text = "not executed by the target, and not safe"
                self._dropped[key] = Reason(Ground.NOT_EXECUTED, text)
        kept = self._pass([key for key in sorted(self._fixes) if key not in self._dropped])
        return self._without_slow(self._without_idle(kept))

    def _pass(self, keys: Sequence[FixKey]) -> Keys:
        """The fixes that pass together; the last resorts are for the breaks that others leave."""
        unsafe = [key for key in keys if self._is_last_resort(key)]
        safe = frozenset(keys).difference(unsafe)
        if not unsafe or (safe and self._trials.attempt(safe) != []):
            return self._keep(keys, frozenset())
        if self._trials.count(safe):
            self._left = self._trials.breaks(safe)
            return safe | self._keep(unsafe, safe)
        text = "the graph does not break without it"
        self._dropped |= dict.fromkeys(unsafe, Reason(Ground.NO_BREAK, text))
        return safe

    def _keep(self, keys: Sequence[FixKey], beside: Keys) -> Keys:
        search = Search[FixKey](lambda some: self._trials.attempt(beside | some))
        kept = search.keep(keys)
        self._dropped |= search.dropped
        return kept

    def _is_last_resort(self, key: FixKey) -> bool:
        """True for an unsafe fix of a break, and for that of one that may not happen."""
        fix = self._fixes[key]
        breaks = fix.diagnostic.effect is Effect.GRAPH_BREAK
        return breaks and (fix.unsure or fix.applicability is not Applicability.SAFE)

    def without_slow_steps(self, done: Remedied) -> Remedied:
        """Leave out the kinds of remedies that compiled code is slower with."""
        kept = [step for step in done.steps if step.worth.kept]
        if len(kept) == len(done.steps):
            return done
        slow, trials = done.steps[len(kept)], kept[-1].trials if kept else self._trials
        text = f"compiled code is slower, or fails, with the {slow.worth.kind}"
        reason = Reason(Ground.SLOWER, text)
        lost = [key for key in done.kept - slow.base if isinstance(key, FixKey)]
        self._dropped |= dict.fromkeys(lost, reason)
        self.kept -= frozenset(lost)
        return replace(done, trials=trials, kept=slow.base)

    def _steps(self) -> Iterator[Step]:
        """What safe fixes were worth, and unsafe ones beyond them."""
        safe = frozenset(key for key in self.kept if not self._is_last_resort(key))
        was = self._trials.figures(frozenset())
        steps = [(SAFE, safe)] if safe and self._trials.attempt(safe) == [] else []
        steps += [(self._kind(bool(steps or not safe)), self.kept)] if self.kept - safe else []
        base: Keys = frozenset()
        for kind, some in steps:
            now = self._trials.figures(some)
            if now != was:
                yield Step(Worth(kind, *was, *now), self._trials, some, base)
            was, base = now, some

    def _kind(self, alone: bool) -> str:
        """What the last resorts are called, ``alone`` or with the rest."""
        if any(self._fixes[key].applicability is not Applicability.SAFE for key in self.kept):
            return UNSAFE if alone else FIXES
        return UNSURE if alone else SAFE

    def _without_slow(self, kept: Keys) -> Keys:
        """Leave out the fixes that eager code pays for; mostly there are none, and one race."""
        if not any(map(self._trials.ran, kept)) or not self._trials.race(kept):
            return kept
        search = Search(self._trials.race)
        rest = search.keep(sorted(kept))
        self._dropped |= search.dropped
        return rest

    def _without_idle(self, kept: Keys) -> Keys:
        """Leave out the fixes at whose lines nothing broke, unless it breaks without them.

        Dynamo tells only the first of several breaks that make it give up on a function.
        """
        idle = frozenset(key for key in kept if self._is_idle(key))
        rest = kept - idle
        if not idle or (rest and self._trials.attempt(rest) is None):
            return kept
        needed = self._breaking(rest, idle)
        final = rest | frozenset(needed)
        count = self._trials.count
        if final and (self._trials.attempt(final) != [] or count(final) > count(kept)):
            self._needed |= dict.fromkeys(idle, "more breaks")
            return kept
        text = "its line ran, and the graph did not break there"
        self._dropped |= dict.fromkeys(idle - final, Reason(Ground.NO_BREAK, text))
        self._needed |= needed
        return final

    def _breaking(self, applied: Keys, left_out: Keys) -> dict[FixKey, str]:
        """Which of the fixes that were left out of a trial break there, and how."""
        if not applied:
            return {}
        found: dict[FixKey, str] = {}
        for judge, breaks in self._trials.breaks(applied):
            for key in left_out:
                for one in judge.at(key, breaks)[:1]:
                    found[key] = one.name
        return found

    def _is_idle(self, key: FixKey) -> bool:
        breaks = self._fixes[key].diagnostic.effect is Effect.GRAPH_BREAK
        return breaks and self._trials.ran(key) and not self._met(key)

    def _met(self, key: FixKey) -> bool:
        """Whether the graph broke at a fix's line; for an unsafe one, after the safe ones."""
        if not self._is_last_resort(key):
            return bool(self._gone(key))
        return any(judge.at(key, breaks) for judge, breaks in self._left)

    def _gone(self, key: FixKey) -> list[str]:
        """The breaks that were at the fix's statement before."""
        judges = self._trials.judges
        names = [one.name for judge in judges for one in judge.at(key, judge.breaks)]
        return list(dict.fromkeys(names))

    def _why_kept(self, key: FixKey) -> Reason:
        gone = self._gone(key)
        if gone:
            return Reason(Ground.CONFIRMED, f"{', '.join(gone)} is gone")
        if key in self._needed:
            return Reason(Ground.CONFIRMED, f"{self._needed[key]} without it")
        if not self._trials.ran(key):
            return Reason(
                Ground.NOT_EXECUTED, "not executed by the target; kept because it is safe"
            )
        return Reason(Ground.EQUAL, "its line ran, and the results are the same")


def _within(run: Run, files: Collection[Path]) -> Run:
    """What concerns the files that the targets load."""
    return replace(
        run,
        results=tuple(r for r in run.results if real(r.diagnostic.path) in files),
        errors=tuple(error for error in run.errors if real(error.path) in files),
    )


def _content(path: Path | str) -> bytes | None:
    try:
        return read_bytes(path)
    except OSError:
        return None


def _target(name: str, before: Probe, after: Probe | None) -> VerifiedTarget:
    count = len(before.user_breaks)
    if after is None:
        return VerifiedTarget(name, count, count, "as they were")
    verdict = after.like_before.verdict if after.like_before else "as they were"
    return VerifiedTarget(name, count, len(after.user_breaks), verdict)
