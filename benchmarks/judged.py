"""A sample of findings, chosen at random and shown with their source, for people to judge.

Run: python -m benchmarks.judged ROOT... --select CODES [--sample 100] [--seed 7] [--stratified]

The findings are ordered by the root's name, the path below it, place and code before the sample is
drawn, so that a seed means the same findings wherever the roots lie.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_AROUND = 6
_LEVELS = ("low", "medium", "high")


@dataclass(frozen=True, order=True, slots=True)
class Shown:
    """A finding as people judge it; ``place`` starts with the root's name."""

    place: str
    row: int
    column: int
    code: str
    confidence: str
    message: str
    file: Path


def main(argv: Sequence[str] | None = None) -> int:
    """Print the sample as markdown."""
    options = _options(argv)
    found = sorted(
        one
        for root in options.roots
        for one in findings(root, options.select, options.confidence, options.leave_out)
    )
    draw = stratified if options.stratified else drawn
    sample = sorted(draw(found, min(options.sample, len(found)), options.seed))
    print(heading(found, sample, options.seed))
    for number, one in enumerate(sample, 1):
        print(entry(number, one))
    return 0


def drawn(found: Sequence[Shown], count: int, seed: int) -> list[Shown]:
    """A plain random sample."""
    return random.Random(seed).sample(found, count)


def stratified(found: Sequence[Shown], count: int, seed: int) -> list[Shown]:
    """A sample with something of each code and confidence, and of each as much as there is.

    Of what has the largest share that is not drawn yet, one is drawn, until there are enough.
    """
    chance = random.Random(seed)
    strata: dict[tuple[str, str], list[Shown]] = {}
    for one in chance.sample(found, len(found)):
        strata.setdefault((one.code, one.confidence), []).append(one)
    taken = dict.fromkeys(sorted(strata), 0)
    for _ in range(count):
        open_ = [key for key in taken if taken[key] < len(strata[key])]
        key = max(open_, key=lambda one: (not taken[one], len(strata[one]) / (taken[one] + 0.5)))
        taken[key] += 1
    return [one for key, number in taken.items() for one in strata[key][:number]]


def findings(root: Path, select: str, confidence: str, preset: str) -> list[Shown]:
    """What `tclint check` finds below a folder."""
    command = [
        sys.executable, "-m", "tclint", "check", str(root), "--isolated", "--select", select,
        *(["--weak"] if confidence == "low" else []), "--output-format", "json",
        "--leave-out", preset,
    ]  # fmt: skip
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1) or not run.stdout:
        raise SystemExit(f"tclint failed on {root}: {run.stderr.strip()}")
    # Who selects a code in full is shown what is below the threshold, too.
    wanted, least = tuple(select.split(",")), _LEVELS.index(confidence)
    return [
        Shown(
            f"{root.name}/{Path(one['filename']).resolve().relative_to(root.resolve())}",
            one["location"]["row"], one["location"]["column"], one["code"], one["confidence"],
            one["message"], Path(one["filename"]),
        )
        for one in json.loads(run.stdout)
        if one["code"].startswith(wanted) and _LEVELS.index(one["confidence"]) >= least
    ]  # fmt: skip


def heading(found: Sequence[Shown], sample: Sequence[Shown], seed: int) -> str:
    """How many there are of each code, and how many of them are shown."""
    total, drawn = Counter(one.code for one in found), Counter(one.code for one in sample)
    rows = [f"| {code} | {total[code]} | {drawn[code]} |" for code in sorted(total)]
    return "\n".join(
        [
            f"# {len(sample)} of {len(found)} findings, seed {seed}",
            "",
            "| code | findings | in the sample |",
            "| --- | --- | --- |",
            *rows,
            "",
        ]
    )


def entry(number: int, one: Shown) -> str:
    """One finding with the lines around it, the reported one marked, and room for a verdict."""
    lines = one.file.read_text("utf-8", errors="replace").splitlines()
    first = max(one.row - 1 - _AROUND, 0)
    shown = [
        f"{'>' if row == one.row else ' '} {row:5} {text}"
        for row, text in enumerate(lines[first : one.row + _AROUND], first + 1)
    ]
    title = f"## {number}. {one.code} {one.place}:{one.row}:{one.column} ({one.confidence})"
    source = ["```python", *shown, "```"]
    return "\n".join([title, "", one.message, "", *source, "", "Verdict:", ""])


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Show a random sample of findings.")
    parser.add_argument("roots", nargs="+", type=Path, help="folders to check")
    parser.add_argument("--select", required=True, help="codes or prefixes, with commas")
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument(
        "--stratified", action="store_true", help="something of each code and confidence"
    )
    parser.add_argument("--leave-out", default="", help="as `tclint check` takes it")
    parser.add_argument("--confidence", default="medium", choices=_LEVELS)
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
