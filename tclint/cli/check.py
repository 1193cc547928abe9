"""``tclint check``."""

from pathlib import Path
from typing import Annotated

import typer

from tclint.cli import options
from tclint.report.formats import OutputFormat


def check(
    paths: options.Paths = None,
    *,
    output_format: Annotated[
        OutputFormat,
        typer.Option(envvar="TCLINT_OUTPUT_FORMAT", help="How to print findings."),
    ] = OutputFormat.TEXT,
    output_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report to a file.")
    ] = None,
    select: options.Select = None,
    extend_select: options.ExtendSelect = None,
    ignore: options.Ignore = None,
    config: options.ConfigOption = None,
    isolated: options.Isolated = False,
    exclude: options.Exclude = None,
    force_exclude: options.ForceExclude = False,
    scope: options.Scope = None,
    target_torch: options.TargetTorch = None,
    diff: options.Diff = False,
    show_declined: options.ShowDeclined = False,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Print how often each rule fired.")
    ] = False,
    explain_types: Annotated[
        str | None,
        typer.Option(
            metavar="FILE:LINE[:COL]",
            help="Print what the expressions there are taken for (tensors, constants, sizes) and"
            " why, instead of findings.",
        ),
    ] = None,
    stdin_filename: options.StdinFilename = None,
    quiet: options.Quiet = False,
    exit_zero: options.ExitZero = False,
) -> None:
    """Tell where compiled code will break, recompile, wait for the device or start slowly.

    Nothing is imported or run: neither torch nor your code.
    """
    from tclint.cli.checking import Output, run_check
    from tclint.cli.configuration import Overrides
    from tclint.cli.fixing import show_diff
    from tclint.cli.inputs import gather

    overrides = Overrides(
        select=select,
        extend_select=extend_select,
        ignore=ignore,
        entries=config or (),
        isolated=isolated,
        exclude=exclude,
        force_exclude=force_exclude,
        scope=scope,
        target_torch=target_torch,
    )
    if explain_types is not None:
        from tclint.cli import explain_types as explaining

        place = explaining.parse_place(explain_types)
        inputs = gather(paths, overrides, stdin_filename)
        raise typer.Exit(explaining.explain_types(inputs, place))
    inputs = gather(paths, overrides, stdin_filename)
    if diff:
        raise typer.Exit(show_diff(inputs, unsafe=False, exit_zero=exit_zero))
    output = Output(output_format, output_file, show_declined, statistics, quiet)
    raise typer.Exit(run_check(inputs, output, exit_zero=exit_zero))
