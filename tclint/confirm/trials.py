"""Sets of fixes, carried out in overlays and run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.confirm.bench import Bench
from tclint.confirm.judge import Judge, Placed, Problems
from tclint.confirm.rows import Sources, real, rows_of
from tclint.fix.results import NO_REMEDIES, FixKey, FixRun, Remedies
from tclint.records import record

if TYPE_CHECKING:
    from tclint.verify.results import Arm, Probe

Fixer = Callable[[Callable[[FixKey], bool], Remedies], FixRun]
"""Makes those of the fixes that a predicate allows, and remedies; nothing is written."""


@record(frozen=True)
class Trial:
    """One set of fixes, carried out and run; ``arms`` end with the first target that fails."""

    fixed: FixRun
    arms: tuple[Arm, ...]
    problems: Problems


class Trials:
    """Runs sets of fixes, each only once."""

    def __init__(
        self,
        fix: Fixer,
        benches: Sequence[Bench],
        before: Sequence[Probe],
        wanted: FixRun,
        most_runs: int,
        show: Callable[[int, str], None],
    ) -> None:
        """Take what all trials share; ``wanted`` are all fixes together."""
        sources = Sources({real(file.path): file.before for file in wanted.changed})
        findings = {fix.key: rows_of(fix, sources) for fix in wanted.fixes}
        self.benches, self.findings = benches, findings
        self.judges = [Judge(probe, sources, findings) for probe in before]
        self._fix, self._most, self._show = fix, most_runs, show
        self._done: dict[frozenset[FixKey], Trial] = {}
        self._raced: dict[frozenset[FixKey], Problems] = {}

    def attempt(self, keys: frozenset[FixKey]) -> Problems | None:
        """The problems of some fixes; None when the runs are used up."""
        if keys not in self._done:
            if self.runs + len(self.benches) > self._most:
                return None
            self._done[keys] = self._run(keys)
        return self._done[keys].problems

    def race(self, keys: frozenset[FixKey]) -> Problems | None:
        """The problems of some fixes, what eager code pays for them among these."""
        problems = self.attempt(keys)
        if problems != []:
            return problems
        if keys not in self._raced:
            self._raced[keys] = self._time(keys)
        return self._raced[keys]

    def fixed(self, keys: frozenset[FixKey]) -> FixRun:
        """What a trial's fixes made of the files."""
        return self._done[keys].fixed

    def last(self, keys: frozenset[FixKey], target: int) -> Probe | None:
        """What a target showed in a trial that passed; None where there was no such trial."""
        trial = self._done.get(keys)
        return trial.arms[target].probe if trial else None

    def breaks(self, keys: frozenset[FixKey]) -> list[tuple[Judge, list[Placed]]]:
        """The breaks that each target met in a trial, by their places in the unfixed files."""
        trial = self._done[keys]
        arms = zip(self.judges, trial.arms, strict=False)  # a trial ends where a target fails
        return [(judge, judge.place(a.probe, trial.fixed)) for judge, a in arms if a.probe]

    def count(self, keys: frozenset[FixKey]) -> int:
        """How many breaks the targets met in a trial."""
        return sum(len(arm.probe.user_breaks) for arm in self._done[keys].arms if arm.probe)

    @property
    def runs(self) -> int:
        """How often targets were compiled."""
        return sum(bench.runs for bench in self.benches)

    def executed(self) -> dict[Path, frozenset[int]]:
        """The rows that any target executes."""
        rows: dict[Path, frozenset[int]] = {}
        for bench in self.benches:
            for path, more in bench.executed().items():
                rows[path] = rows.get(path, frozenset()) | more
        return rows

    def _time(self, keys: frozenset[FixKey]) -> Problems:
        texts = _texts(self.fixed(keys))
        for bench, judge in zip(self.benches, self.judges, strict=True):
            self._show(self.runs, f"{bench.job.name}: speed of eager code")
            problems = judge.slower(bench.race(texts))
            if problems:
                return problems
        return []

    def _run(self, keys: frozenset[FixKey]) -> Trial:
        fixed = self._fix(keys.__contains__, NO_REMEDIES)
        texts = _texts(fixed)
        arms: list[Arm] = []
        problems: Problems = []
        for bench, judge in zip(self.benches, self.judges, strict=True):
            if not problems:
                count = f"{len(fixed.fixes)} of {len(self.findings)} fixes"
                self._show(self.runs, f"{bench.job.name}: {count}")
                arms.append(bench.trial(texts))
                problems = judge.problems(arms[-1], fixed)
        return Trial(fixed, tuple(arms), problems)


def _texts(fixed: FixRun) -> dict[Path, str]:
    return {file.path: file.after for file in fixed.changed}
