"""Keep the fixes that every target confirms."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.confirm.bench import open_bench
from tclint.confirm.remedies import Remedied, with_remedies
from tclint.confirm.rows import real
from tclint.confirm.select import Search
from tclint.confirm.trials import Fixer, Items, Trials, settings_in
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
)
from tclint.verify.errors import TargetError

if TYPE_CHECKING:
    from tclint.lint.engine import Run
    from tclint.verify.results import Probe
    from tclint.verify.session import Job

Keys = frozenset[FixKey]
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

        def offer(kept: Items) -> tuple[FixRun, Trials]:
            hatches = plan.fix(
                lambda key: key in kept or (key.hatch and may(key)), Remedies(hatches=True)
            )
            return hatches, Trials(plan.fix, benches, before, hatches, plan.most_runs, show)

        wanted = plan.fix(may, NO_REMEDIES)
        trials = Trials(plan.fix, benches, before, wanted, plan.most_runs, show)
        choice = _Choice(trials, wanted)
        final = trials.fixed(choice.kept) if choice.kept else plan.fix(lambda _: False, NO_REMEDIES)
        start = Remedied(trials, choice.kept)
        done = with_remedies(start, plan.remedies, final.remaining, offer)
        if done.kept != choice.kept:
            keep = Remedies(settings_in(done.kept), plan.remedies.hatches)
            final = plan.fix(done.kept.__contains__, keep)
        targets = tuple(
            _target(bench.job.name, probe, done.trials.last(done.kept, number))
            for number, (bench, probe) in enumerate(zip(benches, before, strict=True))
        )
        changed = next((path for path, old in loaded.items() if _content(path) != old), None)
        if changed is not None:
            raise TargetError(f"{changed} has changed while fixes were verified; run tclint again")
        return Outcome(
            (*choice.reported(final, status), *_remedies_reported(done, final, status)),
            final.changed,
            _within(final.remaining, loaded) if plan.loaded_only else final.remaining,
            Verification(targets, trials.runs, done.worth),
        )


def _remedies_reported(done: Remedied, final: FixRun, status: Status) -> Iterator[ReportedFix]:
    """Settings and hatches; those that are kept with their edits."""
    for fix in final.fixes:
        if fix.settles or fix.hatch:
            yield ReportedFix(fix, status, Reason(Ground.CONFIRMED, "breaks are gone with it"))
    for fix in done.offered.fixes if done.offered else ():
        if fix.hatch and fix.key not in done.kept:
            yield ReportedFix(fix, Status.DROPPED, (done.dropped or {}).get(fix.key))


class _Choice:
    """Which fixes to keep, and the reason for each."""

    def __init__(self, trials: Trials, wanted: FixRun) -> None:
        self._trials = trials
        self._fixes = {fix.key: fix for fix in wanted.fixes}
        self._executed = trials.executed() if self._fixes else {}
        self._dropped: dict[FixKey, Reason] = {}
        self._needed: dict[FixKey, str] = {}
        self.kept = self._choose()

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
                reported.append(ReportedFix(fix, Status.DROPPED, reason))
        return reported

    def _choose(self) -> Keys:
        for key, fix in self._fixes.items():
            if fix.applicability is not Applicability.SAFE and not self._ran(key):
                text = "not executed by the target, and not safe"
                self._dropped[key] = Reason(Ground.NOT_EXECUTED, text)
        search = Search(self._trials.attempt)
        kept = search.keep([key for key in sorted(self._fixes) if key not in self._dropped])
        self._dropped |= search.dropped
        return self._without_slow(self._without_idle(kept))

    def _without_slow(self, kept: Keys) -> Keys:
        """Leave out the fixes that eager code pays for; mostly there are none, and one race."""
        if not any(map(self._ran, kept)) or not self._trials.race(kept):
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
        if final and (self._trials.attempt(final) != [] or self._breaks_more(final, kept)):
            self._needed |= dict.fromkeys(idle, "more breaks")
            return kept
        text = "its line ran, and the graph did not break there"
        self._dropped |= dict.fromkeys(idle - final, Reason(Ground.NO_BREAK, text))
        self._needed |= needed
        return final

    def _breaks_more(self, fewer: Keys, kept: Keys) -> bool:
        return self._trials.count(fewer) > self._trials.count(kept)

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
        return breaks and self._ran(key) and not self._gone(key)

    def _ran(self, key: FixKey) -> bool:
        rows = self._executed.get(real(key.path), frozenset())
        return any(row in rows for row in self._trials.findings[key][0])

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
        if not self._ran(key):
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
