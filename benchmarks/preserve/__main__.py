"""Do fixes keep what programs do? ``python -m benchmarks.preserve --programs 5000 --seed 0``.

Makes programs by grammar, fixes them, and runs each in many ways as found and as fixed. Every
difference that a safe fix makes is printed with a small program that shows it, and every crash
that an unsafe one brings.
"""

from __future__ import annotations

import argparse
import difflib
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks.preserve.children import ChildError
from benchmarks.preserve.compare import Difference, differences, differences_of, warm
from benchmarks.preserve.engine import judged
from benchmarks.preserve.programs import Program, programs
from benchmarks.preserve.shrink import shrunk

BATCH = 25


@dataclass(slots=True)
class Totals:
    """What a stretch of programs came to."""

    programs: int = 0
    changed: int = 0
    changed_unsafely: int = 0
    fixes: Counter[str] = field(default_factory=Counter)
    unusable: int = 0
    failures: list[tuple[Program, Difference, str]] = field(default_factory=list)

    def add(self, other: Totals) -> None:
        """Take in another stretch."""
        self.programs += other.programs
        self.changed += other.changed
        self.changed_unsafely += other.changed_unsafely
        self.fixes += other.fixes
        self.unusable += other.unusable
        self.failures += other.failures


def measured(stretch: tuple[int, int, int, bool]) -> Totals:
    """Fix and run the programs of a stretch."""
    start, count, seed, small = stretch
    made = [*programs(count, seed, start)]
    totals = Totals(len(made))
    for program, seen in zip(made, judged([one.text for one in made]), strict=True):
        totals.changed += seen.safe.text != seen.found.text
        totals.changed_unsafely += seen.unsafe.text != seen.safe.text
        totals.fixes.update(f"{f.diagnostic.code} {f.applicability.value}" for f in seen.unsafe.fixes)
        try:
            found = differences(program, seen)
        except ChildError:
            totals.unusable += 1
            continue
        for one in found:
            text = _small(program, one) if small else program.text
            totals.failures.append((program, one, text))
    return totals


def _small(program: Program, told: Difference) -> str:
    def fails(text: str) -> bool:
        try:
            found = differences_of(program, text)
        except (ChildError, SyntaxError):
            return False
        return any(one.kind == told.kind and _gist(one) == _gist(told) for one in found)

    return shrunk(program.text, fails)


def _gist(one: Difference) -> tuple[str, bool]:
    return one.kind, "raise" in one.what or "Error" in one.what


def shown(program: Program, told: Difference, text: str) -> Iterator[str]:
    """A counterexample: the small program, what fixing does to it, and what differs then."""
    seen = judged([text])[0]
    arm = seen.unsafe if told.kind == "unsafe" else seen.safe
    now = next((d for d in differences_of(program, text) if d.kind == told.kind), told)
    yield f"### {told.kind}: program {program.number}, {now.codes}"
    yield f"use {now.use!r}: {now.what}"
    yield "```diff"
    lines = difflib.unified_diff(text.splitlines(), arm.text.splitlines(), "found", "fixed", n=50,
                                 lineterm="")
    yield from [*lines][3:]
    yield "```"


def main() -> int:
    """Run, print, and say by the exit code whether something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=5000)
    parser.add_argument("--start", type=int, default=0, help="the first program's number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--small", action=argparse.BooleanOptionalAction, default=True)
    options = parser.parse_args()
    warm()
    end = options.start + options.programs
    stretches = [(n, min(BATCH, end - n), options.seed, options.small)
                 for n in range(options.start, end, BATCH)]
    totals, began = Totals(), time.monotonic()
    context = multiprocessing.get_context("fork")
    with context.Pool(options.jobs) as pool:
        for part in pool.imap(measured, stretches):
            totals.add(part)
            for failure in part.failures:
                print(*shown(*failure), sep="\n", flush=True)
    print(f"{totals.programs} programs, {totals.changed} changed safely, "
          f"{totals.changed_unsafely} changed further by unsafe fixes, "
          f"{sum(totals.fixes.values())} fixes, {totals.unusable} programs that do not end, "
          f"{time.monotonic() - began:.0f} s")
    print(Counter((one.kind, one.codes) for _, one, _ in totals.failures).most_common())
    print(totals.fixes.most_common())
    return bool(totals.failures)


if __name__ == "__main__":
    sys.exit(main())
