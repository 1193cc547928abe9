"""What a trial shows: are the breaks gone, is everything else as it was?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.confirm.rows import Origin, RowMap, Sources, real
from tclint.confirm.select import Problem
from tclint.diagnostics import Effect
from tclint.fix.results import FixKey
from tclint.records import record
from tclint.report.fixes.outcome import Ground, Reason

if TYPE_CHECKING:
    from tclint.fix.results import FixRun
    from tclint.verify.events import Break
    from tclint.verify.results import Arm, Probe
    from tclint.verify.speed import Speedup

Problems = Sequence[Problem[FixKey]]
Findings = Mapping[FixKey, tuple[range, ...]]
"""The rows of each fix's finding, in the unfixed file."""


@record(frozen=True)
class Placed:
    """A break with its place in the unfixed file."""

    path: Path
    origin: Origin
    told: Break

    @property
    def name(self) -> str:
        """The id that torch prints, or its reason."""
        return self.told.gb_id or self.told.reason


class Judge:
    """Compares trials of one target with the run of the unfixed files."""

    def __init__(self, before: Probe, sources: Sources, findings: Findings) -> None:
        """Take the run to compare with; ``findings`` are the rows of each fix's finding."""
        self._before, self._sources, self._findings = before, sources, findings
        self.breaks = [
            Placed(real(one.filename), Origin(range(one.row, one.row + 1)), one)
            for one in before.user_breaks
        ]
        self._known = {(p.told.gb_id, p.path, p.told.row) for p in self.breaks}
        self._lost = [*self._untraced()]

    def at(self, key: FixKey, breaks: Sequence[Placed]) -> list[Placed]:
        """The breaks at the statements of a fix's finding."""
        path, found = real(key.path), self._findings[key]
        here = (p for p in breaks if p.path == path)
        return [p for p in here if any(_meet(rows, p.origin.rows) for rows in found)]

    def place(self, probe: Probe, fixed: FixRun) -> list[Placed]:
        """The breaks of a trial by their places in the unfixed files."""
        maps = {real(file.path): RowMap(file) for file in fixed.changed}
        placed = []
        for one in probe.user_breaks:
            path = real(one.filename)
            rows = maps.get(path)
            origin = rows.origin(one.row) if rows else Origin(range(one.row, one.row + 1))
            placed.append(Placed(path, origin, one))
        return placed

    def problems(self, arm: Arm, fixed: FixRun) -> Problems:
        """Everything that speaks against the fixes of a trial; nothing if they pass."""
        if arm.probe is None or arm.failure is not None:
            failure = arm.failure
            said = f"{failure.kind}: {failure.message}" if failure else "no result"
            return [Problem(Reason(Ground.FAILS, f"the target fails ({said})"))]
        breaks = [*self._breaks(self.place(arm.probe, fixed), fixed)]
        return [*breaks, *self._differences(arm.probe), *self._recompiles(arm.probe)]

    @staticmethod
    def slower(eager: Speedup) -> Problems:
        """What eager code pays for the fixes of a trial, if that is more than the noise."""
        if eager.ratio is None or eager.ratio <= 1:
            return []
        text = f"eager code is slower: {eager.ratio:.2f} times what it was ({eager.note})"
        return [Problem(Reason(Ground.SLOWER, text))]

    def _breaks(self, after: Sequence[Placed], fixed: FixRun) -> Iterator[Problem[FixKey]]:
        for one in after:
            there = [fix for fix in fixed.fixes if self.at(fix.key, [one])]
            if any((one.told.gb_id, one.path, row) in self._known for row in one.origin.rows):
                vain = {fix.key for fix in there if fix.diagnostic.effect is Effect.GRAPH_BREAK}
                if vain:
                    reason = Reason(Ground.STILL_BREAKS, f"still breaks: {one.name}")
                    yield Problem(reason, frozenset(vain))
                continue
            blamed = one.origin.writers.union(fix.key for fix in there)
            if blamed or not self._was_hidden(one):
                where = f"{one.path.name}:{one.told.row}"
                text = f"new break: {one.name} at {where} ({one.told.reason})"
                yield Problem(Reason(Ground.NEW_BREAK, text), blamed)

    def _differences(self, after: Probe) -> Iterator[Problem[FixKey]]:
        eager = after.like_before
        if eager is not None and not eager.equal:
            text = f"results differ: {eager.detail}"
            if eager.equal is None:
                text = f"results cannot be compared: {eager.detail}"
            yield Problem(Reason(Ground.DIFFERENT, text))
        elif after.like_eager.equal is False and self._before.like_eager.equal is not False:
            text = f"compiled results differ from eager ones: {after.like_eager.detail}"
            yield Problem(Reason(Ground.DIFFERENT, text))
        if after.like_varied is not None and after.like_varied.equal is False:
            text = f"does not hold for other inputs: {after.like_varied.detail}"
            yield Problem(Reason(Ground.DIFFERENT, text))

    def _recompiles(self, after: Probe) -> Iterator[Problem[FixKey]]:
        if len(after.recompiles) > len(self._before.recompiles):
            reason = " ".join(after.recompiles[-1].reason.split())
            yield Problem(Reason(Ground.RECOMPILES, f"recompiles: {reason}"))

    def _was_hidden(self, one: Placed) -> bool:
        """True where Dynamo did not get to see the line before: it had given up on the function."""
        return any(path == one.path and _meet(rows, one.origin.rows) for path, rows in self._lost)

    def _untraced(self) -> Iterator[tuple[Path, range]]:
        """The functions that Dynamo gave up on."""
        dropped = [(p.path, p.told.row) for p in self.breaks if p.told.drops_frame]
        frames = [(real(f.filename), f.row) for f in self._before.eager_frames]
        for path, row in (*dropped, *frames):
            yield path, self._sources.function(path, row)


def _meet(one: range, other: range) -> bool:
    return one.start < other.stop and other.start < one.stop
