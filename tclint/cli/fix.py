"""``tclint fix``."""

from typing import Annotated

import typer

from tclint.cli import options


def fix(
    paths: options.Paths = None,
    *,
    unsafe_fixes: options.UnsafeFixes = False,
    diff: options.Diff = False,
    select: options.Select = None,
    extend_select: options.ExtendSelect = None,
    ignore: options.Ignore = None,
    config: options.ConfigOption = None,
    isolated: options.Isolated = False,
    exclude: options.Exclude = None,
    force_exclude: options.ForceExclude = False,
    scope: options.Scope = None,
    target_torch: options.TargetTorch = None,
    show_declined: options.ShowDeclined = False,
    stdin_filename: options.StdinFilename = None,
    quiet: options.Quiet = False,
    exit_zero: options.ExitZero = False,
    exit_non_zero_on_fix: Annotated[
        bool,
        typer.Option("--exit-non-zero-on-fix", help="Exit with 1 if anything was fixed."),
    ] = False,
) -> None:
    """Rewrite what can be proved to stay the same, and leave every other byte alone.

    Standard input is printed to standard output, repaired.
    """
    from tclint.cli.configuration import Overrides
    from tclint.cli.fixing import FixOptions, run_fix, show_diff
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
    inputs = gather(paths, overrides, stdin_filename)
    if diff:
        raise typer.Exit(show_diff(inputs, unsafe=unsafe_fixes, exit_zero=exit_zero))
    how = FixOptions(
        unsafe=unsafe_fixes,
        quiet=quiet,
        show_declined=show_declined,
        exit_zero=exit_zero,
        exit_non_zero_on_fix=exit_non_zero_on_fix,
    )
    raise typer.Exit(run_fix(inputs, how))
