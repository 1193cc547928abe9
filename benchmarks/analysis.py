"""How long the analysis of a package takes, beside CPython's own parser on the same files.

``python -m benchmarks.analysis PATH... [--rounds N]`` prints the CPU seconds of parsing, of
building the symbol tables (which parses, too), of the analysis and of the rules, the best of N
rounds each, and the ratios to parsing. ``make bench-analysis`` writes the page with the figures of
the compiled wheel and of the sources as they are.
"""

from __future__ import annotations

import argparse
import ast
import gc
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from benchmarks.speed.sources import WHEELS, unpacked
from tclint.config import Config
from tclint.lint.engine import check_files, load_project
from tclint.lint.registry import load_rules
from tclint.semantics import lattice
from tclint.semantics.interpreter.run import analyse
from tclint.semantics.project import Project

T = TypeVar("T")
INTRODUCTION = """# The cost of the analysis

`make bench-analysis` wrote this page. *ast.parse* is the CPU time that CPython's own parser
takes for the same files; *analysis* and *check* are multiples of it. The analysis finds out which
code is compiled and what each expression holds. A check also reads and parses the files, and runs
the rules. Each figure is the best of {rounds} rounds, without a cache.
"""


@dataclass(frozen=True, slots=True)
class Costs:
    """CPU seconds of one round."""

    parse: float
    load: float
    analyse: float
    check: float

    @property
    def ratios(self) -> tuple[float, float]:
        """The analysis and the whole check, as multiples of parsing."""
        return self.analyse / self.parse, self.check / self.parse


def timed(work: Callable[[], T]) -> tuple[float, T]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def parse_all(sources: list[bytes]) -> int:
    """Parse every file; the answer is how many are not Python to this interpreter."""
    broken = 0
    for source in sources:
        try:
            ast.parse(source)
        except (SyntaxError, ValueError):
            broken += 1
    return broken


def load(paths: list[Path], config: Config) -> Project:
    project = load_project(paths, config)
    for path in paths:
        project.module_at(path)
    return project


def measure(paths: list[Path], config: Config) -> Costs:
    """One round over the files, with the garbage collector off as in ``tclint check``."""
    wanted = {rule.on for rule in load_rules()}
    sources = [path.read_bytes() for path in paths]
    gc.collect()
    gc.disable()
    try:
        parsing, _ = timed(lambda: parse_all(sources))
        loading, project = timed(lambda: load(paths, config))
        analysing, _ = timed(partial(analyse, project, paths, config, wanted))
        checking, _ = timed(lambda: check_files(paths, config))
    finally:
        gc.enable()
    return Costs(parsing, loading, analysing, checking)


def row(name: str, files: int, costs: Costs) -> str:
    """One package's figures as a row of a table."""
    ratios = costs.ratios
    return f"| {name} | {files} | {costs.parse:.2f} s | {ratios[0]:.2f} | {ratios[1]:.2f} |"


def page(rows: list[str], rounds: int, append: bool) -> str:
    """The page, or the part for the other form of tclint that goes below it."""
    compiled = lattice.__file__.endswith((".so", ".pyd"))
    table = "\n".join(
        ["| package | files | ast.parse | analysis | check |", "| --- |" + " ---: |" * 4, *rows]
    )
    part = f"## {'The compiled wheel' if compiled else 'The sources as they are'}\n\n{table}\n"
    return "\n" + part if append else f"{INTRODUCTION.format(rounds=rounds)}\n{part}"


def report(name: str, files: int, costs: Costs) -> str:
    """One package's figures as text."""
    ratios = costs.ratios
    return (
        f"{name}: {files} files, CPU seconds\n"
        f"ast.parse      {costs.parse:8.2f}\n"
        f"parse + load   {costs.load:8.2f}\n"
        f"analysis       {costs.analyse:8.2f}   {ratios[0]:.2f} x ast.parse\n"
        f"tclint check   {costs.check:8.2f}   {ratios[1]:.2f} x ast.parse"
    )


def main() -> None:
    """Measure each folder, or the packages that the benchmark of speed downloads."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", type=Path, nargs="*", help="packages, or folders of Python files")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", type=Path, help="where to download packages when none are named")
    parser.add_argument("--markdown", type=Path, help="also write the page here")
    parser.add_argument("--append", action="store_true", help="add to the page")
    options = parser.parse_args()
    if not options.paths and options.work is None:
        parser.error("name folders, or --work FOLDER to download packages into")
    folders = options.paths or [unpacked(name, options.work) for name in WHEELS]
    warnings.simplefilter("ignore")
    rows: list[str] = []
    for folder in folders:
        paths = sorted(folder.rglob("*.py"))
        if not paths:
            parser.error(f"no Python files under {folder}")
        rounds = [measure(paths, Config(folder)) for _ in range(options.rounds)]
        best = Costs(*(min(getattr(r, name) for r in rounds) for name in Costs.__slots__))
        print(report(folder.name, len(paths), best), flush=True)
        rows.append(row(folder.name, len(paths), best))
    if options.markdown:
        with options.markdown.open("a" if options.append else "w", encoding="utf-8") as out:
            out.write(page(rows, options.rounds, options.append))


if __name__ == "__main__":
    main()
