"""Compare fixed programs on another machine: ``python -m benchmarks.preserve.against FILE``.

The file comes from ``python -m benchmarks.preserve --emit FILE``. Only torch and numpy are needed
here, so that it runs on a machine with GPUs on which tclint is not installed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from benchmarks.preserve.bundle import Bundle
from benchmarks.preserve.children import ChildError, in_child
from benchmarks.preserve.compare import Case
from benchmarks.preserve.devices import CPU, Devices
from benchmarks.preserve.page import described, fixes_table, update
from benchmarks.preserve.totals import Totals, compared

_SECONDS = 60
_BATCH = 10
"""How many programs a process runs before another one has to make a context on the device."""


def main() -> int:
    """Compare, print, and say by the exit code whether something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--device", type=Devices.of_text, default=CPU, help="cuda, cuda,cpu")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--most", type=int, help="how many programs; default: all")
    parser.add_argument("--minutes", type=float, default=60, help="when to begin no more programs")
    parser.add_argument("--markdown", type=Path, help="the page to write the figures to")
    options = parser.parse_args()
    torch.set_num_threads(1)
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # errors are raised where they happen, each time
    try:
        in_child(options.device.begin, _SECONDS)
    except ChildError as error:
        parser.error(f"{options.device}: {error}")
    bundle = Bundle.read(options.file)
    began = time.monotonic()
    totals, left = _compared(bundle.cases[: options.most], options)
    totals.programs, totals.fixes = bundle.programs, bundle.fixes
    lines = [
        *totals.lines(),
        f"not begun in time              {left}",
        f"seconds                        {time.monotonic() - began:.0f}",
    ]
    print(*lines, *fixes_table(totals.fixes), sep="\n")
    if options.markdown:
        where = f"{options.device}, torch {torch.__version__}, fixed for {bundle.torch}"
        told = ["```text", *lines, "```"]
        update(options.markdown, f"Programs of seed {bundle.seed} on {where}", told)
    return bool(totals.failures)


def _compared(cases: Sequence[Case], options: argparse.Namespace) -> tuple[Totals, int]:
    """What programs came to, and how many were not begun."""
    batches = [cases[start : start + _BATCH] for start in range(0, len(cases), _BATCH)]
    until = time.time() + options.minutes * 60
    tasks = [(batch, options.device, until) for batch in batches]
    totals, left = Totals(), 0
    with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
        for batch, part in zip(batches, pool.imap(_batch, tasks), strict=True):
            left += len(batch) if part is None else 0
            for failure in part.failures if part else ():
                print(*described(failure.case, failure.difference), sep="\n", flush=True)
            totals.add(part or Totals())
    return totals, left


def _batch(task: tuple[Sequence[Case], Devices, float]) -> Totals | None:
    cases, devices, until = task
    return compared(cases, devices) if time.time() < until else None


if __name__ == "__main__":
    sys.exit(main())
