"""What each of Dynamo's ways of telling about graph breaks sees, on programs known to break.

The last column says whether the structured log, which `tclint verify` reports from, names every
break of the program at its line and nothing else.

Run: python -m benchmarks.verify.oracles > docs/benchmark-oracles.md
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable

import torch
import torch._dynamo
import torch._logging
from torch._dynamo.utils import counters

from benchmarks.verify.expected import expected
from benchmarks.verify.more_programs import MORE_BREAKING, MORE_CLEAN
from benchmarks.verify.programs import BREAKING, CLEAN
from tclint.verify.oracles import CountingBackend, gate, watch

Program = Callable[[torch.Tensor], torch.Tensor]
Oracle = Callable[[Program, torch.Tensor], bool]


def structured_log(program: Program, x: torch.Tensor) -> bool:
    with watch() as trace:
        torch.compile(program, backend=CountingBackend())(x)
    return bool(trace.breaks)


def error_on_graph_break(program: Program, x: torch.Tensor) -> bool:
    verdict, _ = gate(lambda: torch.compile(program, backend="eager")(x))
    return verdict == "breaks"


class _Printed(logging.Handler):
    """Counts what ``TORCH_LOGS=graph_breaks`` would print."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1


def torch_logs(program: Program, x: torch.Tensor) -> bool:
    torch._logging.set_logs(graph_breaks=True)
    names = [name for name in logging.root.manager.loggerDict if name.endswith("__graph_breaks")]
    printed, loggers = _Printed(), [logging.getLogger(name) for name in names]
    kept = [(logger, logger.handlers) for logger in loggers]
    for logger in loggers:
        logger.handlers = [printed]
    torch.compile(program, backend="eager")(x)
    for logger, handlers in kept:
        logger.handlers = handlers
    torch._logging.set_logs()
    return printed.count > 0


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
    torch_logs,
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


_HEAD = """\
# Ways to see a graph break

<!-- Written by `python -m benchmarks.verify.oracles`; do not edit. -->

Which of Dynamo's ways of reporting sees the graph breaks of small programs, with torch {torch}.
`verify` is what `tclint verify` reports: `exact` means every break by its id, at its line, and no
other.
"""


def main() -> None:
    """Print one row a program, and how many of the breaking ones each oracle saw."""
    warnings.simplefilter("ignore")
    logging.getLogger("torch._dynamo").setLevel(logging.CRITICAL)
    x = torch.rand(8, 8)
    names = [oracle.__name__ for oracle in ORACLES]
    breaking = (*BREAKING, *MORE_BREAKING)
    print(_HEAD.format(torch=torch.__version__))
    _print_row("program", *(f"`{name}`" for name in names), "`verify`")
    _print_row(*["---"] * (len(names) + 2))
    seen, exact = dict.fromkeys(names, 0), 0
    for program in (*CLEAN, *MORE_CLEAN, *breaking):
        row = []
        for oracle in ORACLES:
            torch._dynamo.reset()
            found = oracle(program, x)
            seen[oracle.__name__] += found and program in breaking
            row.append("breaks" if found else "-")
        torch._dynamo.reset()
        placed = at_its_lines(program, x)
        exact += placed == "exact"
        _print_row(f"`{program.__name__}`", *row, placed)
    totals = [f"{seen[name]}/{len(breaking)}" for name in names]
    every = len(breaking) + len(CLEAN) + len(MORE_CLEAN)
    _print_row("of the breaking ones", *totals, f"{exact}/{every} of all")


def _print_row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
