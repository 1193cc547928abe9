"""``tclint check``."""

import gc
import sys
import time
from dataclasses import replace
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
        typer.Option(
            envvar="TCLINT_OUTPUT_FORMAT",
            help="Format of the report.",
            rich_help_panel=options.REPORT,
        ),
    ] = OutputFormat.FULL,
    output_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the report to a file.", rich_help_panel=options.REPORT
        ),
    ] = None,
    select: options.Select = None,
    ignore: options.Ignore = None,
    config: options.ConfigOption = None,
    isolated: options.Isolated = False,
    rules: options.Rules = None,
    exclude: options.Exclude = None,
    force_exclude: options.ForceExclude = False,
    scope: options.Scope = None,
    target_torch: options.TargetTorch = None,
    min_torch: options.MinTorch = None,
    weak: options.Weak = False,
    leave_out: options.LeaveOut = None,
    baseline: options.Baseline = None,
    update_baseline: options.UpdateBaseline = False,
    diff_only: options.DiffOnly = None,
    add_ignore: options.AddIgnore = None,
    statistics: Annotated[
        bool,
        typer.Option(
            "--statistics",
            help="Print the number of findings of each rule.",
            rich_help_panel=options.REPORT,
        ),
    ] = False,
    explain_types: Annotated[
        str | None,
        typer.Option(
            metavar="FILE:LINE[:COL]",
            help="Instead of findings, explain why a line is reported or not: its compiled region,"
            " the types that tclint infers, what each rule says.",
            rich_help_panel=options.REPORT,
        ),
    ] = None,
    stdin_filename: options.StdinFilename = None,
    ignore_noqa: options.IgnoreNoqa = False,
    show_files: options.ShowFiles = False,
    show_regions: options.ShowRegions = False,
    show_settings: options.ShowSettings = False,
    watch: options.Watch = False,
    quiet: options.Quiet = False,
    exit_zero: options.ExitZero = False,
    jobs: options.Jobs = 0,
    no_cache: options.NoCache = False,
    cache_dir: options.CacheDir = None,
) -> None:
    """Report where compiled code breaks, recompiles, waits for the GPU or starts slowly.

    Neither torch nor your code is imported or run.
    """
    from tclint.cli.checking import Output, Task, run_check
    from tclint.cli.configuration import Overrides
    from tclint.cli.execution import Means, execution, recorder_of
    from tclint.cli.inputs import Inputs, gather, to_change
    from tclint.cli.narrowing import Narrowing

    started = time.time_ns()
    if rules:
        from tclint.lint.local_rules import load_rules_of

        load_rules_of(rules)
        jobs = jobs if sys.platform == "linux" else 1  # only forks know these rules
        no_cache = True  # what is remembered holds for the installed rules
    overrides = Overrides(
        select=select,
        ignore=ignore,
        entries=config or (),
        isolated=isolated,
        exclude=exclude,
        force_exclude=force_exclude,
        scope=scope,
        target_torch=target_torch,
        min_torch=min_torch,
        weak=weak,
        leave_out=leave_out,
        ignore_noqa=ignore_noqa,
    )
    inputs = gather(paths, overrides, stdin_filename)
    if add_ignore is not None:
        inputs = to_change(inputs, paths or ())
    if explain_types is not None:
        from tclint.cli import explain_types as explaining

        place = explaining.parse_place(explain_types)
        as_json = output_format is OutputFormat.JSON
        raise typer.Exit(explaining.explain_types(inputs, place, as_json=as_json))
    if show_files or show_settings:
        from tclint.cli import listing

        listed = listing.show_files if show_files else listing.show_settings
        raise typer.Exit(listed(inputs))
    task = Task(
        Output(output_format, output_file, statistics, quiet, show_regions),
        Narrowing(baseline, diff_only),
        update_baseline=update_baseline,
        add_ignore=add_ignore,
        exit_zero=exit_zero,
    )
    task.require_sense(stdin=inputs.stdin is not None, watch=watch)
    means = Means(jobs, not no_cache, cache_dir)

    if watch:
        from tclint.cli.watching import watch as watch_files

        def run(inputs: Inputs) -> int:
            return run_check(inputs, task, execution(inputs, paths, means))

        watch_files(inputs, lambda: gather(paths, overrides, stdin_filename, again=True), run)
    # The process ends with the run: the garbage collector would look through all for nothing.
    gc.disable()
    how = replace(execution(inputs, paths, means), ends=True)
    plain = task.only_prints and not config
    recorder = recorder_of(how, inputs, paths, started) if plain and not rules else None
    code = run_check(inputs, task, how, recorder)
    gc.freeze()
    raise typer.Exit(code)
