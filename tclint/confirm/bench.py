"""Run one target again and again: as it is, and with trials of fixes, in scratch overlays."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tclint.confirm.rows import real
from tclint.records import record
from tclint.verify.answers import Covered
from tclint.verify.arms import Options, Side, new_cache, request_for
from tclint.verify.compare import probe_side
from tclint.verify.errors import TargetError
from tclint.verify.process import ChildError
from tclint.verify.race import race_eager, time_arms
from tclint.verify.results import Arm
from tclint.verify.speed import Speedup

if TYPE_CHECKING:
    from tclint.verify.results import Probe
    from tclint.verify.session import Job


@record(frozen=True)
class State:
    """A trial to run again: its texts in the place of files, and the settings that are on."""

    arm: Arm
    texts: Mapping[Path, str]
    settings: frozenset[str]


@record()
class Bench:
    """The arms of one target share weights, inputs and results: one "before", many trials."""

    job: Job
    root: Path
    desk: Path
    runs: int = 0
    _options: Options = field(init=False)
    _races: int = 0
    _before: Arm | None = None
    _executed: dict[Path, frozenset[int]] | None = None

    def __post_init__(self) -> None:
        """How fast compiled code is, is none of our business; eager code may not get slower."""
        self._options = replace(self.job.options, speed=False)

    def before(self) -> Probe:
        """Compile the target as it is.

        Raises:
            TargetError: it does not run, or gives other results every time.
        """
        arm = self._run(Side("before", self.job.text, self.root), follow=False)
        if arm.failure is not None:
            raise self._unusable(f"{arm.failure.kind}: {arm.failure.message}")
        assert arm.probe is not None
        self._before = arm
        if arm.probe.unstable:
            raise self._unusable(
                "two eager runs with equal seeds differ, so nothing can be compared "
                f"({arm.probe.unstable}); make it deterministic"
            )
        return arm.probe

    def trial(self, texts: Mapping[Path, str], settings: Collection[str] = ()) -> Arm:
        """Compile the target with these texts in the place of files, and with settings on."""
        side = self._side(f"trial-{self.runs}", texts)
        return self._run(replace(side, settings=tuple(sorted(settings))), follow=True)

    def race(self, texts: Mapping[Path, str]) -> Speedup:
        """Time eager code with these texts against eager code as it is; nothing is compiled."""
        if not self.job.options.speed:
            return Speedup("", None, "not asked for")
        self._races += 1
        sides = (self._side(f"was-{self._races}", {}), self._side(f"is-{self._races}", texts))
        return race_eager(sides, self._options, self.desk)

    def speeds(self, states: Sequence[State]) -> tuple[Arm, ...]:
        """Time the target as it was and in these states, compiled for real, in turns."""
        assert self._before is not None
        arms = (self._before, *(state.arm for state in states))
        sides = [self._side("paced-0", {})]
        for number, state in enumerate(states, 1):
            side = self._side(f"paced-{number}", state.texts)
            sides.append(replace(side, settings=tuple(sorted(state.settings))))
        return time_arms(sides, arms, self.job.options, self.desk)

    def _side(self, name: str, texts: Mapping[Path, str]) -> Side:
        overlay = {str(real(path)): text for path, text in texts.items()}
        return Side(name, self.job.text, self.root, overlay)

    def executed(self) -> dict[Path, frozenset[int]]:
        """The rows that the target executes, by file."""
        if self._executed is None:
            self._executed = self._covered()
        return self._executed

    def _covered(self) -> dict[Path, frozenset[int]]:
        side = Side("rows", self.job.text, self.root)
        cache = new_cache(self.desk, side, "cover")
        with self._options.start(cache) as child:
            try:
                request = request_for(side, self._options, self.desk)
                covered = child.ask("cover", Covered, **request)
            except ChildError as failed:
                raise self._unusable(failed.failure.message) from failed
        return {Path(name): frozenset(rows) for name, rows in covered.rows.items()}

    def _run(self, side: Side, *, follow: bool) -> Arm:
        self.runs += 1
        return probe_side(side, self._options, self.desk, follow=follow)

    def _unusable(self, reason: str) -> TargetError:
        return TargetError(f"{self.job.name}: {reason}")


@contextmanager
def open_bench(job: Job, root: Path) -> Iterator[Bench]:
    """A bench with a scratch folder that goes with it."""
    with TemporaryDirectory(prefix="tclint-fix-") as folder:
        yield Bench(job, root, Path(folder))
