"""The figures as tables in Markdown."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.speed.measure import Costs
from tclint.lint.shards import WHOLE


@dataclass(frozen=True, slots=True)
class Package:
    """The costs of checking one package whole."""

    name: str
    files: int
    lines: int
    ruff: Costs
    cold: Costs
    warm: Costs
    both: Costs


def together(packages: Sequence[Package]) -> Package:
    """All packages as one after the other are checked; the peak of memory is the highest."""
    totals = {
        name: _total([getattr(one, name) for one in packages])
        for name in ("ruff", "cold", "warm", "both")
    }
    files, lines = sum(one.files for one in packages), sum(one.lines for one in packages)
    return Package("all", files, lines, **totals)


def _total(costs: Sequence[Costs]) -> Costs:
    return Costs(
        sum(one.wall for one in costs),
        sum(one.cpu for one in costs),
        max(one.memory for one in costs),
    )


@dataclass(frozen=True, slots=True)
class Start:
    """What a run costs that has next to nothing to do, in seconds of wall-clock time."""

    python: Costs
    version: Costs
    one_file: Costs
    one_file_again: Costs


def package_table(packages: Sequence[Package]) -> str:
    """One line a package, and one for all; ratios are to ruff, one thread, without its cache."""
    head = (
        "| package | files | lines | ruff | cold | warm | cold : ruff | warm : ruff "
        "| 2 processes : 1 | memory |"
    )
    rows = [head, "| --- |" + " ---: |" * 9]
    for one in (*packages, together(packages)):
        cells = [
            one.name, f"{one.files:,}", f"{one.lines:,}", _seconds(one.ruff), _seconds(one.cold),
            _seconds(one.warm), f"{one.cold.cpu / one.ruff.cpu:.1f}",
            f"{one.warm.wall / one.ruff.wall:.2f}", f"{one.both.wall / one.cold.wall:.2f}",
            f"{one.cold.memory:.0f} MB",
        ]  # fmt: skip
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def sample_table(files: int, tclint: Costs, peers: Sequence[tuple[str, Costs]]) -> str:
    """CPU seconds of all on the same files."""
    rows = [f"| linter, on {files} files | CPU | : tclint | memory |", "| --- |" + " ---: |" * 3]
    for name, costs in (("tclint", tclint), *peers):
        ratio = costs.cpu / tclint.cpu
        rows.append(f"| {name} | {costs.cpu:.2f} s | {ratio:.1f} | {costs.memory:.0f} MB |")
    return "\n".join(rows) + "\n"


def release_table(package: str, measured: Mapping[str, Costs]) -> str:
    """CPU seconds of ruff and of each tclint on one package, measured in turns."""
    rows = [f"| on {package} | CPU | : ruff | memory |", "| --- |" + " ---: |" * 3]
    for name, costs in measured.items():
        ratio = costs.cpu / measured["ruff"].cpu
        rows.append(f"| {name} | {_seconds(costs)} | {ratio:.1f} | {costs.memory:.0f} MB |")
    return "\n".join(rows) + "\n"


def start_table(start: Start) -> str:
    """Start-up beside that of Python itself."""
    named = (
        ("`python -c pass`", start.python),
        ("`tclint --version`", start.version),
        ("`tclint check` of one file", start.one_file),
        ("the same again", start.one_file_again),
    )
    rows = ["| command | wall | CPU |", "| --- | ---: | ---: |"]
    rows += [f"| {name} | {c.wall * 1000:.0f} ms | {c.cpu * 1000:.0f} ms |" for name, c in named]
    return "\n".join(rows) + "\n"


def page(
    form: str, start: Start, packages: Sequence[Package], tables: tuple[str, str], rounds: int
) -> str:
    """The whole page; ``form`` says which tclint was timed.

    ``tables`` are those of earlier commits and of linters that are timed on a sample.
    """
    releases, sampled = tables
    machine = f"Python {platform.python_version()}, {platform.machine()}, {sys.platform}"
    return f"""# Speed

`make bench-speed` wrote this page on {machine}. Each figure is the best of at
least {rounds} rounds, in which the linters take turns. tclint is {form}.

Seconds are CPU seconds, children included; the ratios of warm runs and of processes are of
wall-clock time. *ruff* runs with its default rules, one thread, and no cache. *Cold* is one process
without a cache, *warm* the second run with one; *memory* is the peak of the cold run. A package of
up to {WHOLE} files is one program, and one process checks it, as it does where a second process
would save nothing. *All* are the packages one after the other.

{package_table(packages)}
## Start

{start_table(start)}
## Commit by commit

Cold runs of compiled wheels, built from the commits and run in turns.

{releases}
## Beside linters written in Python

{sampled}"""


def _seconds(costs: Costs) -> str:
    return f"{costs.cpu:.2f} s"
