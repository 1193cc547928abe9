"""Sets of fixes, carried out in overlays and run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.confirm.bench import Bench, State
from tclint.confirm.judge import Judge, Placed, Problems
from tclint.confirm.rows import Sources, real, rows_of
from tclint.fix.results import FixKey, FixRun, Remedies
from tclint.records import record
from tclint.torch_facts.dynamo_settings import DynamoSetting

if TYPE_CHECKING:
    from tclint.verify.results import Arm, Probe

Item = FixKey | DynamoSetting
"""What a trial tries: a fix, a setting."""
Items = frozenset[Item]
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
        self._before = tuple(before)
        self._done: dict[Items, Trial] = {}
        self._raced: dict[Items, Problems] = {}
        self._executed: dict[Path, frozenset[int]] | None = None

    def attempt(self, keys: Items) -> Problems | None:
        """The problems of some fixes; None when the runs are used up."""
        if keys not in self._done:
            if self.runs + len(self.benches) > self._most:
                return None
            self._done[keys] = self._run(keys)
        return self._done[keys].problems

    def race(self, keys: Items) -> Problems | None:
        """The problems of some fixes, what eager code pays for them among these."""
        problems = self.attempt(keys)
        return problems if problems != [] else self.slower(keys)

    def slower(self, keys: Items) -> Problems:
        """What eager code pays for some fixes."""
        if keys not in self._raced:
            self._raced[keys] = self._time(keys)
        return self._raced[keys]

    def fixed(self, keys: Items) -> FixRun:
        """What a trial's fixes made of the files."""
        return self._done[keys].fixed

    def state(self, keys: Items, target: int) -> State:
        """A trial that passed, of one target, to be run again."""
        trial = self._done[keys]
        return State(trial.arms[target], _texts(trial.fixed), settings_in(keys))

    def last(self, keys: Items, target: int) -> Probe | None:
        """What a target showed in a trial that passed; None where there was no such trial."""
        trial = self._done.get(keys)
        return trial.arms[target].probe if trial else None

    def breaks(self, keys: Items) -> list[tuple[Judge, list[Placed]]]:
        """The breaks that each target met in a trial, by their places in the unfixed files."""
        if not keys:
            return [(judge, judge.breaks) for judge in self.judges]
        trial = self._done[keys]
        arms = zip(self.judges, trial.arms, strict=False)  # a trial ends where a target fails
        return [(judge, judge.place(a.probe, trial.fixed)) for judge, a in arms if a.probe]

    def count(self, keys: Items) -> int:
        """How many breaks the targets met in a trial."""
        return self.figures(keys)[0]

    def figures(self, keys: Items) -> tuple[int, int]:
        """How many breaks the targets met in a trial, and how many graphs they compiled to."""
        probes = self._probes(keys)
        return sum(len(one.user_breaks) for one in probes), sum(one.graphs for one in probes)

    def settings_named(self, keys: Items) -> frozenset[str]:
        """The settings that torch says would capture what broke in a trial."""
        breaks = (one for probe in self._probes(keys) for one in probe.user_breaks)
        return frozenset(name for one in breaks for name in one.settings)

    def _probes(self, keys: Items) -> tuple[Probe, ...]:
        if not keys:
            return self._before
        return tuple(arm.probe for arm in self._done[keys].arms if arm.probe)

    @property
    def runs(self) -> int:
        """How often targets were compiled."""
        return sum(bench.runs for bench in self.benches)

    def ran(self, key: FixKey) -> bool:
        """True where any target executes the line of a fix's finding."""
        if self._executed is None:
            self._executed = self._covered()
        rows = self._executed.get(real(key.path), frozenset())
        return any(row in rows for row in self.findings[key][0])

    def _covered(self) -> dict[Path, frozenset[int]]:
        rows: dict[Path, frozenset[int]] = {}
        for bench in self.benches:
            for path, more in bench.executed().items():
                rows[path] = rows.get(path, frozenset()) | more
        return rows

    def _time(self, keys: Items) -> Problems:
        texts = _texts(self.fixed(keys))
        for bench, judge in zip(self.benches, self.judges, strict=True):
            self._show(self.runs, f"{bench.job.name}: speed of eager code")
            problems = judge.slower(bench.race(texts))
            if problems:
                return problems
        return []

    def _run(self, keys: Items) -> Trial:
        fixes = [key for key in keys if isinstance(key, FixKey)]
        unsure = any(key.unsure for key in fixes)
        fixed = self._fix(keys.__contains__, Remedies(unsure=unsure))
        texts, settings = _texts(fixed), settings_in(keys)
        arms: list[Arm] = []
        problems: Problems = []
        for bench, judge in zip(self.benches, self.judges, strict=True):
            if not problems:
                count = f"{len(fixed.fixes)} of {len(self.findings)} fixes"
                count += f", {len(settings)} settings" if settings else ""
                self._show(self.runs, f"{bench.job.name}: {count}")
                arms.append(bench.trial(texts, settings))
                problems = judge.problems(arms[-1], fixed)
        return Trial(fixed, tuple(arms), problems)


def _texts(fixed: FixRun) -> dict[Path, str]:
    return {file.path: file.after for file in fixed.changed}


def settings_in(items: Items) -> frozenset[str]:
    """The names of the settings among what is tried."""
    return frozenset(item.name for item in items if isinstance(item, DynamoSetting))
