"""``tclint fleet``: many targets, in several arms."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from tclint.cli.exits import CLEAN, FINDINGS

group = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)
"""``fleet`` with the commands below it."""


class Format(str, Enum):
    """How to print a report."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


_StorePath = Annotated[
    Path, typer.Option("--store", metavar="FILE", help="The store that the runs are in.")
]
_OutputFile = Annotated[
    Path | None,
    typer.Option("--output-file", metavar="FILE", help="Write the report to a file."),
]
_FleetFile = Annotated[
    Path, typer.Argument(metavar="FLEET.toml", help="What to measure.", show_default=False)
]
_STORE = Path("fleet.sqlite")


@group.callback()
def fleet() -> None:
    """Measure many targets in several arms, keep the results, and compare them."""


@group.command("run")
def run(
    file: _FleetFile,
    *,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", "-j", min=0, help="Processes at a time; 0: as the file says, or one per core."
        ),
    ] = 0,
    again: Annotated[
        bool, typer.Option("--again", help="Measure everything again, even what is known.")
    ] = False,
    again_failed: Annotated[
        bool, typer.Option("--again-failed", help="Measure failed units again.")
    ] = False,
    label: Annotated[str, typer.Option(help="A name for this run in reports.")] = "",
) -> None:
    """Measure what is not known yet; resume a run that was killed.

    Results are kept in one SQLite file as they come. The exit status is 0 whatever the results:
    `tclint fleet diff` judges them.
    """
    from tclint.cli.fleeting import carry_out
    from tclint.fleet.session import Again

    carry_out(file, jobs, Again(again, again_failed), label)


@group.command("report")
def report(
    number: Annotated[
        int | None,
        typer.Argument(metavar="RUN", help="The run's number. Default: the last one."),
    ] = None,
    *,
    store: _StorePath = _STORE,
    output_format: Annotated[Format, typer.Option(help="Format of the report.")] = Format.TEXT,
    output_file: _OutputFile = None,
) -> None:
    """Report what compiles as one graph, what breaks and why, what fixes gain, and what changed."""
    from tclint.cli.fleeting import output, rendered
    from tclint.fleet.board import board
    from tclint.fleet.store import open_store

    with open_store(store) as opened:
        text = rendered(board(opened, number), output_format.value)
    output(text, output_file)


@group.command("diff")
def diff(
    before: Annotated[
        str,
        typer.Argument(metavar="A", help="RUN, RUN:ARM or :ARM; `last` is the last run."),
    ],
    after: Annotated[str, typer.Argument(metavar="B", help="The same for the other side.")],
    *,
    store: _StorePath = _STORE,
    output_format: Annotated[Format, typer.Option(help="Format of the report.")] = Format.TEXT,
    output_file: _OutputFile = None,
) -> None:
    """Compare two runs, or two arms; the exit status is 1 if something got worse."""
    from tclint.cli.fleeting import difference, output
    from tclint.fleet.changes import Kind
    from tclint.fleet.store import open_store

    with open_store(store) as opened:
        found, text = difference(opened, before, after, output_format.value)
    output(text, output_file)
    raise typer.Exit(FINDINGS if any(one.kind is Kind.WORSE for one in found) else CLEAN)
