"""Mutated programs and whole environments through the checker: nothing may crash it.

``python -m benchmarks.fuzz --mutants 10000 PATH...`` breaks files found below the paths in many
ways, checks them in batches in every scope, and prints what went wrong: exceptions, and positions
that lie outside of their file. ``--as-is`` checks the files as they are instead.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.mutate import mutated
from tclint.config import SCOPES, Config
from tclint.lint.engine import Run, check_files
from tclint.report.formats import OutputFormat, render
from tclint.report.view import View

BATCH = 25


def sources(paths: Sequence[Path]) -> list[Path]:
    """The Python files below some paths."""
    found = [[path] if path.is_file() else path.rglob("*.py") for path in paths]
    return sorted({file for files in found for file in files if file.is_file()})


def misplaced(run: Run) -> Iterator[str]:
    """Findings whose place is not in their file."""
    for result in run.results:
        span, lines = result.diagnostic.span, result.file.lines
        first, last = span.start, span.end
        inside = 1 <= first.row <= last.row <= max(len(lines), 1) and first <= last
        if not inside or first.column < 1:
            yield f"{result.diagnostic.path}: {result.diagnostic.code} at {span}"


def failures(paths: Sequence[Path], config: Config) -> list[str]:
    """What goes wrong in checking some files together and reporting on them."""
    try:
        run = check_files(paths, config)
        for kind in (OutputFormat.FULL, OutputFormat.JSON):
            render(kind, run, View(config.root))
    except Exception:  # noqa: BLE001 (the point of the exercise)
        return [traceback.format_exc()]
    return [*misplaced(run)]


def fuzz(files: Sequence[Path], count: int, seed: int, folder: Path) -> Iterator[str]:
    """Check ``count`` mutants of files; a batch that fails is written to ``folder``."""
    chance = random.Random(seed)
    for start in range(0, count, BATCH):
        place = folder / f"batch{start}"
        place.mkdir(parents=True)
        paths = []
        for number in range(min(BATCH, count - start)):
            original, other = chance.choice(files), chance.choice(files)
            data = mutated(original.read_bytes(), other.read_bytes(), chance)
            paths.append(place / f"m{number}_{original.stem}.py")
            paths[-1].write_bytes(data)
        scope = chance.choice(SCOPES)
        bad = failures(paths, Config(place, scope=scope, third_party=False))
        yield from (f"{place} ({scope}): {text}" for text in bad)
        if not bad:
            for path in paths:
                path.unlink()
            place.rmdir()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", type=Path, nargs="+", help="files and folders to start from")
    parser.add_argument("--mutants", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--as-is", action="store_true", help="check the files unchanged")
    options = parser.parse_args()
    files = sources(options.paths)
    if not files:
        parser.error("no Python files under the given paths")
    if options.as_is:
        bad = failures(files, Config(Path.cwd(), third_party=False))
        number = len(files)
    else:
        folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        bad = [*fuzz(files, options.mutants, options.seed, folder)]
        number = options.mutants
    for text in bad:
        print(text)
    print(f"{number} files, {len(bad)} failures")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
