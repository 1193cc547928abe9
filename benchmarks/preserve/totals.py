"""What programs come to, in figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks.preserve.children import ChildError
from benchmarks.preserve.compare import Case, Difference, doubtful, verdict
from benchmarks.preserve.devices import Devices


@dataclass(frozen=True, slots=True)
class Failure:
    """A difference that a fix makes; ``text``: the program, or a small one that fails alike."""

    case: Case
    difference: Difference
    text: str


@dataclass(slots=True)
class Totals:
    """What some programs came to.

    ``fixes`` counts applied fixes by rule and kind, ``unstable`` the programs of which some use
    differs from one run to the next, and is left out.
    """

    programs: int = 0
    changed: int = 0
    changed_further: int = 0
    unended: int = 0
    unstable: int = 0
    fixes: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    def add(self, other: Totals) -> None:
        """Take in what other programs came to."""
        self.programs += other.programs
        self.changed += other.changed
        self.changed_further += other.changed_further
        self.unended += other.unended
        self.unstable += other.unstable
        self.fixes += other.fixes
        self.failures += other.failures

    def lines(self) -> Iterator[str]:
        """The figures."""
        kinds = Counter(one.difference.kind for one in self.failures)
        changed, further = self.changed, self.changed_further
        yield f"programs                       {self.programs}"
        yield f"changed by safe fixes          {changed}, of which differ {kinds['safe']}"
        yield f"changed further by unsafe ones {further}, of which crash {kinds['unsafe']}"
        yield f"fixes                          {sum(self.fixes.values())}"
        yield f"fixes that did not settle      {kinds['error']}"
        yield f"unlike themselves in some use  {self.unstable}"
        yield f"not ended in time              {self.unended}"


def compared(cases: Sequence[Case], devices: Devices) -> Totals:
    """Run programs before and after their fixes."""
    totals = Totals()
    for case, doubt in zip(cases, doubtful(cases, devices), strict=True):
        found = case.program.text
        totals.programs += 1
        totals.changed += case.safe.text != found
        totals.changed_further += case.unsafe.text != case.safe.text
        if not doubt:
            continue
        try:
            judgement = verdict(case, devices)
        except ChildError:
            totals.unended += 1
            continue
        totals.unstable += bool(judgement.unstable)
        totals.failures += [Failure(case, one, found) for one in judgement.differences]
    return totals
