"""What stretches of programs come to, and how that is told."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.preserve.children import ChildError
from benchmarks.preserve.compare import Difference, differences, differences_of, doubtful
from benchmarks.preserve.engine import judged
from benchmarks.preserve.programs import Program, programs
from benchmarks.preserve.real import real_programs
from benchmarks.preserve.shrink import shrunk


@dataclass(slots=True)
class Totals:
    """What some programs came to."""

    programs: int = 0
    changed: int = 0
    changed_further: int = 0
    unended: int = 0
    fixes: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: list[tuple[Program, Difference, str]] = field(default_factory=list)

    def add(self, other: Totals) -> None:
        """Take in what other programs came to."""
        self.programs += other.programs
        self.changed += other.changed
        self.changed_further += other.changed_further
        self.unended += other.unended
        self.fixes += other.fixes
        self.failures += other.failures

    def lines(self) -> Iterator[str]:
        """The figures."""
        kinds = Counter(one.kind for _, one, _ in self.failures)
        changed, further = self.changed, self.changed_further
        yield f"programs                       {self.programs}"
        yield f"changed by safe fixes          {changed}, of which differ {kinds['safe']}"
        yield f"changed further by unsafe ones {further}, of which crash {kinds['unsafe']}"
        yield f"fixes                          {sum(self.fixes.values())}"
        yield f"fixes that did not settle      {kinds['error']}"
        yield f"not ended in time              {self.unended}"


@dataclass(frozen=True, slots=True)
class Stretch:
    """Programs with consecutive numbers; ``small``: whether failing ones are to be shrunk.

    ``real``: mutated functions of packages, instead of programs made from nothing.
    """

    seed: int
    start: int
    count: int
    small: bool
    real: bool = False

    def programs(self) -> list[Program]:
        """Its programs, those aside that are no Python."""
        made = real_programs if self.real else programs
        return [*made(self.count, self.seed, self.start)]


def measured(stretch: Stretch) -> Totals:
    """Fix and run the programs of a stretch."""
    made = stretch.programs()
    totals = Totals(len(made))
    arms = judged([one.text for one in made])
    for program, seen, doubt in zip(made, arms, doubtful(made, arms), strict=True):
        totals.changed += seen.safe.text != seen.found.text
        totals.changed_further += seen.unsafe.text != seen.safe.text
        totals.fixes.update((f.diagnostic.code, f.applicability.value) for f in seen.unsafe.fixes)
        try:
            found = differences(program, seen) if doubt else []
        except ChildError:
            totals.unended += 1
            continue
        for one in found:
            text = _small(program, one) if stretch.small else program.text
            totals.failures.append((program, one, text))
    return totals


def _small(program: Program, told: Difference) -> str:
    def fails(text: str) -> bool:
        try:
            found = differences_of(program, text)
        except (ChildError, SyntaxError):
            return False
        return any(one.kind == told.kind and _raises(one) == _raises(told) for one in found)

    return shrunk(program.text, fails)


def _raises(one: Difference) -> bool:
    return "Error" in one.what


def shown(program: Program, told: Difference, text: str) -> Iterator[str]:
    """A counterexample: the small program, what fixing does to it, and what differs then."""
    seen = judged([text])[0]
    arm = seen.unsafe if told.kind == "unsafe" else seen.safe
    now = next((d for d in differences_of(program, text) if d.kind == told.kind), told)
    yield f"### {told.kind}: program {program.number}, {now.codes}"
    yield f"use {now.use!r}: {now.what}"
    yield "```diff"
    lines = (text.splitlines(), arm.text.splitlines())
    yield from [*difflib.unified_diff(*lines, n=50, lineterm="")][3:]
    yield "```"
