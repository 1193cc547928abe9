"""What each of Dynamo's ways of telling about graph breaks sees, on programs known to break.

The last column says whether the structured log, which `tclint verify` reports from, names every
break of the program at its line and nothing else.

Run: python benchmarks/verify/oracles.py
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import torch
import torch._dynamo
from torch._dynamo.utils import counters

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from expected import expected  # noqa: E402
from more_programs import MORE_BREAKING, MORE_CLEAN  # noqa: E402
from programs import BREAKING, CLEAN  # noqa: E402

from tclint.verify.oracles import CountingBackend, gate, watch  # noqa: E402

Program = Callable[[torch.Tensor], torch.Tensor]
Oracle = Callable[[Program, torch.Tensor], bool]


def structured_log(program: Program, x: torch.Tensor) -> bool:
    with watch() as trace:
        torch.compile(program, backend=CountingBackend())(x)
    return bool(trace.breaks)


def error_on_graph_break(program: Program, x: torch.Tensor) -> bool:
    verdict, _ = gate(lambda: torch.compile(program, backend="eager")(x))
    return verdict == "breaks"


def fullgraph(program: Program, x: torch.Tensor) -> bool:
    try:
        torch.compile(program, backend="eager", fullgraph=True)(x)
    except torch._dynamo.exc.TorchDynamoException:
        return True
    return False


def break_counter(program: Program, x: torch.Tensor) -> bool:
    counters.clear()
    torch.compile(program, backend="eager")(x)
    return sum(counters["graph_break"].values()) > 0


def graph_count(program: Program, x: torch.Tensor) -> bool:
    backend = CountingBackend()
    torch.compile(program, backend=backend)(x)
    return len(backend.ops) > 1


def explain_count(program: Program, x: torch.Tensor) -> bool:
    return bool(torch._dynamo.explain(program)(x).graph_break_count > 0)


def explain_reasons(program: Program, x: torch.Tensor) -> bool:
    return bool(torch._dynamo.explain(program)(x).break_reasons)


ORACLES: tuple[Oracle, ...] = (
    error_on_graph_break,
    structured_log,
    fullgraph,
    break_counter,
    graph_count,
    explain_count,
    explain_reasons,
)


def at_its_lines(program: Program, x: torch.Tensor) -> str:
    """Compare what the log names with what the program's comments announce."""
    with watch() as trace:
        torch.compile(program, backend=CountingBackend())(x)
    wanted = expected(program)
    found = sorted((one.gb_id or "?", one.row) for one in trace.breaks)
    return "exact" if found == wanted else f"{found} instead of {wanted}"


def main() -> None:
    """Print one row a program, and how many of the breaking ones each oracle saw."""
    warnings.simplefilter("ignore")
    logging.getLogger("torch._dynamo").setLevel(logging.CRITICAL)
    x = torch.rand(8, 8)
    names = [oracle.__name__ for oracle in ORACLES]
    breaking = (*BREAKING, *MORE_BREAKING)
    print("torch", torch.__version__)
    print("program".ljust(24), *names, "at_its_lines")
    seen, exact = dict.fromkeys(names, 0), 0
    for program in (*CLEAN, *MORE_CLEAN, *breaking):
        row = []
        for oracle in ORACLES:
            torch._dynamo.reset()
            found = oracle(program, x)
            seen[oracle.__name__] += found and program in breaking
            row.append(("breaks" if found else "-").ljust(len(oracle.__name__)))
        torch._dynamo.reset()
        placed = at_its_lines(program, x)
        exact += placed == "exact"
        print(program.__name__.ljust(24), *row, placed)
    totals = [f"{seen[name]}/{len(breaking)}".ljust(len(name)) for name in names]
    every = len(breaking) + len(CLEAN) + len(MORE_CLEAN)
    print("seen".ljust(24), *totals, f"{exact}/{every}")


if __name__ == "__main__":
    main()
