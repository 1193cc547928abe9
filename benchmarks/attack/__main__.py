"""Attacks tclint in every way that its makers could think of: ``python -m benchmarks.attack``.

Prints, by kind, how many inputs were tried and how many failed; each failure comes with the command
that tries its input alone. ``--only KIND --seed N --first K`` narrows the attack, ``--scale 0.01``
takes a hundredth of everything. Needs Linux, git and torch.
"""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from benchmarks.attack import page
from benchmarks.attack.kinds import KINDS, attacked, slices
from benchmarks.attack.totals import Total


def main() -> int:
    """Attack, print, and say by the exit code whether something failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=KINDS, action="append", help="this kind; may be repeated")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the first input's number")
    parser.add_argument("--count", type=int, help="inputs of each kind; default: as --scale says")
    parser.add_argument("--scale", type=float, default=1.0, help="the part of the whole attack")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--markdown", type=Path, help="the page to write the figures to")
    options = parser.parse_args()
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="tclint-attack-"))
    totals = {name: Total(KINDS[name]) for name in options.only or KINDS}
    carry_out(totals, options, folder)
    seconds = time.monotonic() - began
    lines = [line for total in totals.values() for line in total.lines()]
    print(*lines, f"{seconds:.0f} seconds, {options.jobs} processes", sep="\n")
    if options.markdown:
        page.write(options.markdown, [*totals.values()])
    failed = any(total.failures for total in totals.values())
    if not failed:
        shutil.rmtree(folder)
    return int(failed)


def carry_out(totals: dict[str, Total], options: argparse.Namespace, folder: Path) -> None:
    """Try the inputs of all kinds, print what fails, and add everything up."""
    parts = [
        (name, part)
        for name, total in totals.items()
        for count in (options.count or max(1, round(total.kind.count * options.scale)),)
        for part in slices(total.kind, options.seed, options.first, count, folder)
    ]
    with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
        running = [pool.submit(attacked, *part) for part in parts]
        for future in as_completed(running):
            name, found = future.result()
            totals[name].add(found)
            for one in found:
                if one.failure is not None:
                    replay = f"--only {name} --seed {options.seed} --first {one.number} --count 1"
                    print(f"{name} {one.number} ({one.what}): {one.failure}")
                    print(f"  again: python -m benchmarks.attack {replay}\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
