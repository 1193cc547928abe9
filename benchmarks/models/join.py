"""Set the breaks that happened against those that were predicted, line by line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.models.record import BreakSite, Measured
from benchmarks.models.static import Predicted, function_rows

# A comprehension is a frame of its own up to Python 3.11, which Dynamo meets only when an earlier
# break made the function around it run eagerly (GB4347, from torch 2.15 on GB9493): the line is
# innocent. So is `super().__init__()` in a module whose `__init__` broke further down (GB0119):
# without that break it is traced.
CONSEQUENCES = frozenset({"GB0119", "GB4347", "GB7000", "GB9493"})
# What Dynamo refuses to make (the handle of a hook, a sparse tensor), it refuses once more wherever
# the code that follows gets it.
REFUSED_AGAIN = {"GB0013": {"GB0467"}, "GB0015": {"GB0277", "GB0374"}}

Line = tuple[str, int]


@dataclass(frozen=True, slots=True)
class BreakLine:
    """A line where the graph broke; ``by`` are the findings that say so.

    ``consequence`` is true where it breaks only because another line did.
    """

    file: str
    row: int
    gb_ids: tuple[str, ...]
    reason: str
    by: tuple[Predicted, ...]
    consequence: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a finding: ``confirmed``, ``behind`` a dropped frame, or ``false-alarm``."""

    finding: Predicted
    outcome: str


@dataclass(frozen=True, slots=True)
class Joined:
    """One model: all of its modes together."""

    model: str
    cls: str
    family: str
    graphs: dict[str, int]
    failures: dict[str, str]
    lines: tuple[BreakLine, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def whole(self) -> bool:
        """Whether it compiled without any break in every mode that ran."""
        return bool(self.graphs) and not self.lines


def join(
    family: str, modes: Sequence[Measured], predicted: Iterable[Predicted], root: Path
) -> Joined:
    """Judge one model by its records of all modes."""
    findings = list(predicted)
    ran = [one for one in modes if one.failure is None]
    lines = _lines(ran, findings)
    broken = {(line.file, line.row) for line in lines}
    verdicts = [_verdict(one, ran, broken, root) for one in findings]
    return Joined(
        modes[0].model,
        modes[0].cls,
        family,
        {one.mode: one.graphs for one in ran},
        {one.mode: one.failure for one in modes if one.failure is not None},
        tuple(lines),
        tuple(verdict for verdict in verdicts if verdict is not None),
    )


def _lines(modes: Sequence[Measured], findings: Sequence[Predicted]) -> list[BreakLine]:
    sites: dict[Line, list[BreakSite]] = defaultdict(list)
    for measured in modes:
        for one in measured.breaks:
            sites[one.file, one.row].append(one)
    all_ids = {gb_id for measured in modes for one in measured.breaks for gb_id in one.gb_ids}
    return [
        BreakLine(
            file,
            row,
            tuple(dict.fromkeys(gb_id for one in here for gb_id in one.gb_ids)),
            here[0].reason,
            tuple(f for f in findings if f.file == file and row in f.named),
            all(_is_consequence(one, all_ids) for one in here),
        )
        for (file, row), here in sorted(sites.items())
    ]


def _is_consequence(site: BreakSite, all_ids: set[str]) -> bool:
    ids = set(site.gb_ids)
    again = any(not REFUSED_AGAIN.get(gb_id, set()).isdisjoint(all_ids) for gb_id in ids)
    return again or (bool(ids) and ids <= CONSEQUENCES)


def _verdict(
    finding: Predicted, modes: Sequence[Measured], broken: set[Line], root: Path
) -> Verdict | None:
    """None for a finding at an expression that did not run."""
    if any((finding.file, row) in broken for row in finding.named):
        return Verdict(finding, "confirmed")
    ran = [one for one in modes if _executes(one, finding)]
    if not ran:
        return None
    behind = any(_dropped(one, finding, root) for one in ran)
    return Verdict(finding, "behind" if behind else "false-alarm")


def _executes(measured: Measured, finding: Predicted) -> bool:
    rows = measured.executed.get(finding.file, ())
    unreached = measured.unreached.get(finding.file, ())
    return finding.place not in unreached and not set(finding.rows).isdisjoint(rows)


def _dropped(measured: Measured, finding: Predicted, root: Path) -> bool:
    return any(
        finding.row in function_rows(root / frame.file, frame.row)
        for frame in measured.dropped
        if frame.file == finding.file
    )
