"""Do fixes keep what programs do? ``python -m benchmarks.preserve --programs 5000 --seed 0``.

Makes programs by grammar, fixes them, and runs each in many ways as found and as fixed. Every
difference that a safe fix makes is printed with a small program that shows it, and every crash
that an unsafe one brings. ``--silence`` compiles programs, and the examples of all rules, instead:
where ``check`` names no graph break, Dynamo may find none. ``--emit`` writes what safe fixes
change to a file, which ``benchmarks.preserve.against`` runs where GPUs are but no tclint is.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from benchmarks.preserve import silence
from benchmarks.preserve.bundle import Bundle
from benchmarks.preserve.devices import CPU, Devices
from benchmarks.preserve.measure import Stretch, fixed, measured, shown, warm
from benchmarks.preserve.page import fixes_table, update
from benchmarks.preserve.real import functions
from benchmarks.preserve.totals import Totals

BATCH = 25
T = TypeVar("T")
R = TypeVar("R")


def main() -> int:
    """Run, print, and say by the exit code whether something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, help="default: 5000, or 300 with --silence")
    parser.add_argument("--start", type=int, default=0, help="the first program's number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--small", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--real", action="store_true", help="mutate functions of torch instead")
    parser.add_argument("--silence", action="store_true", help="look for breaks left unnamed")
    parser.add_argument("--device", type=Devices.of_text, default=CPU, help="cuda, cuda,cpu")
    parser.add_argument("--torch", type=_release, help="fix for this one; default: the installed")
    parser.add_argument("--emit", type=Path, help="write the fixed programs, and run none")
    parser.add_argument("--markdown", type=Path, help="the page to write the figures to")
    options = parser.parse_args()
    warm()
    if options.silence:
        return _silence(options)
    return (_emit if options.emit else _programs)(options)


def _release(text: str) -> tuple[int, int]:
    major, minor = text.split(".")[:2]
    return int(major), int(minor)


def _stretches(options: argparse.Namespace) -> list[Stretch]:
    end = options.start + (options.programs or 5000)
    return [
        Stretch(
            options.seed,
            start,
            min(BATCH, end - start),
            options.small,
            options.real,
            options.torch,
            options.device,
        )
        for start in range(options.start, end, BATCH)
    ]


def _emit(options: argparse.Namespace) -> int:
    release = ".".join(map(str, options.torch)) if options.torch else "the installed torch"
    bundle = Bundle(options.seed, release)
    for count, fixes, cases in _each(fixed, _stretches(options), options.jobs):
        bundle.programs += count
        bundle.fixes += fixes
        bundle.cases += cases
    bundle.write(options.emit)
    told = f"{bundle.programs} programs, {len(bundle.cases)} changed by safe fixes"
    print(f"{options.emit}: {told}", *fixes_table(bundle.fixes), sep="\n")
    return 0


def _programs(options: argparse.Namespace) -> int:
    totals, began = Totals(), time.monotonic()
    if options.real:
        functions()  # found once, for all processes
    stretches = _stretches(options)
    for part in _each(measured, stretches, options.jobs):
        totals.add(part)
        for failure in part.failures:
            print(*shown(failure, stretches[0]), sep="\n", flush=True)
    lines = [*totals.lines(), f"seconds                        {time.monotonic() - began:.0f}"]
    print(*lines, *fixes_table(totals.fixes), sep="\n")
    if options.markdown:
        told = ["```text", *lines, "```", "", *fixes_table(totals.fixes)]
        what = "Mutated functions of torch" if options.real else "Programs"
        update(options.markdown, f"{what} of seed {options.seed}", told)
    return bool(totals.failures)


def _silence(options: argparse.Namespace) -> int:
    subjects = [
        *silence.examples(),
        *silence.generated(options.programs or 300, options.seed, options.start),
    ]
    batches = [subjects[start : start + BATCH] for start in range(0, len(subjects), BATCH)]
    total = silence.Heard()
    for part in _each(silence.heard, batches, options.jobs):
        total = total.and_(part)
        for untold in part.unanswered:
            print(silence.shown_unanswered(untold), flush=True)
        for one in (*part.silent, *part.beyond):
            print(
                *silence.shown(silence.small(one) if options.small else one), sep="\n", flush=True
            )
    lines = [*total.lines(len(subjects))]
    print(*lines, sep="\n")
    if options.markdown:
        update(options.markdown, "Silence", [silence.ABOUT, "```text", *lines, "```"])
    return bool(total.silent) or not total.is_credible


def _each(call: Callable[[T], R], parts: Sequence[T], jobs: int) -> Iterator[R]:
    """What a function gives for each part, in their order, worked out in several processes."""
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        yield from pool.imap(call, parts)


if __name__ == "__main__":
    sys.exit(main())
