"""How long the analysis of a package takes, beside CPython's own parser on the same files.

``python -m benchmarks.analysis PATH [--rounds N]`` prints the CPU seconds of parsing, of building
the symbol tables (which parses, too), of the analysis and of the rules, the best of N rounds each,
and the ratio of analysis to parsing.
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

from tclint.config import Config
from tclint.lint.engine import check_files, load_project
from tclint.lint.registry import load_rules
from tclint.semantics.interpreter.run import analyse
from tclint.semantics.project import Project

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Costs:
    """CPU seconds of one round."""

    parse: float
    load: float
    analyse: float
    check: float


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, help="a package or any folder of Python files")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    paths = sorted(options.path.rglob("*.py"))
    if not paths:
        parser.error(f"no Python files under {options.path}")
    warnings.simplefilter("ignore")
    rounds = [measure(paths, Config(options.path)) for _ in range(options.rounds)]
    best = Costs(*(min(getattr(r, name) for r in rounds) for name in Costs.__slots__))
    print(f"{len(paths)} files, CPU seconds, best of {len(rounds)}")
    print(f"ast.parse      {best.parse:8.2f}")
    print(f"parse + load   {best.load:8.2f}")
    print(f"analysis       {best.analyse:8.2f}   {best.analyse / best.parse:.2f} x ast.parse")
    print(f"tclint check   {best.check:8.2f}   {best.check / best.parse:.2f} x ast.parse")


if __name__ == "__main__":
    main()
