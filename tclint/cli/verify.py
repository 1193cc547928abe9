"""``tclint verify``: compile targets, and see what really breaks, recompiles and waits."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from tclint.cli.terminal import fail, write
from tclint.cli.verifying import render, require_torch, run_jobs

_GIB = 1024**3


class Format(str, Enum):
    """How to print the report."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"


class Phase(str, Enum):
    """What one call of the target does."""

    FORWARD = "forward"
    BACKWARD = "backward"
    STEP = "step"


class Parallel(str, Enum):
    """How a module is spread over processes."""

    DDP = "ddp"
    FSDP = "fsdp"
    NONE = "none"


class Device(str, Enum):
    """Where to put the target's module and inputs."""

    CPU = "cpu"
    CUDA = "cuda"


def verify(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TARGET...",
            help="pkg.mod:factory or path/file.py:factory, where the factory returns "
            "(module_or_callable, args, kwargs), or an object with `model`, `inputs` and "
            "optionally `train_step`, `optimizer`, `tolerance`. Or the name of a configured "
            "target. Default: all configured targets.",
            show_default=False,
        ),
    ] = None,
    *,
    before: Annotated[
        str | None,
        typer.Option(help="Compare with the same target in this folder, file or git revision."),
    ] = None,
    fixed: Annotated[
        bool,
        typer.Option("--fixed", help="Compare with the target as `tclint fix` would leave it."),
    ] = False,
    unsafe_fixes: Annotated[
        bool,
        typer.Option("--unsafe-fixes", help="With --fixed: also apply unsafe fixes."),
    ] = False,
    phase: Annotated[
        Phase, typer.Option(help="What one call does; `step` trains with the optimizer.")
    ] = Phase.FORWARD,
    output_format: Annotated[Format, typer.Option(help="Format of the report.")] = Format.TEXT,
    output_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report to a file.")
    ] = None,
    modes: Annotated[
        str,
        typer.Option(
            "--modes",  # named, since typer 0.27 takes a metavar of the same letters for the name
            metavar="MODES",
            help="Comma-separated torch.compile modes to time; `regional` compiles each "
            "repeated block by itself.",
        ),
    ] = "default",
    backend: Annotated[str, typer.Option(help="torch.compile backend to time.")] = "inductor",
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--inputs",
            metavar="DTYPE[SHAPE]",
            help="A random input, such as 'float32[4, 8]' or 'int64[4]<10' (below 10); repeatable. "
            "For factories that return a module alone.",
        ),
    ] = None,
    device: Annotated[
        Device | None, typer.Option(help="Device to move the target to. Default: do not move it.")
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=1.0,
            help="Seconds for each target; partial results are reported.",
        ),
    ] = 1800.0,
    memory_limit: Annotated[
        float,
        typer.Option(
            metavar="GIB", min=0.0, help="GiB of memory for each child process; 0 means no limit."
        ),
    ] = 0.0,
    speed: Annotated[bool, typer.Option(help="Also time the target.")] = True,
    nproc: Annotated[
        int, typer.Option(metavar="N", min=1, help="Also run on this many processes, one per rank.")
    ] = 1,
    parallel: Annotated[
        Parallel, typer.Option(help="How to distribute the module over the processes.")
    ] = Parallel.DDP,
    repro: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write scripts that reproduce each problem to this folder."
        ),
    ] = None,
) -> None:
    """Compile targets in child processes; report breaks, recompiles, syncs, results, speed."""
    from tclint.cli.configuration import warn_of_requirements
    from tclint.cli.report_file import require_report, write_report
    from tclint.config import ConfigError, load_config
    from tclint.verify.arms import Options
    from tclint.verify.errors import TargetError
    from tclint.verify.session import Comparison, exit_code, jobs_for

    if before is not None and fixed:
        raise typer.BadParameter("--before and --fixed are two different comparisons")
    if unsafe_fixes and not fixed:
        raise typer.BadParameter("--unsafe-fixes needs --fixed")
    options = Options(
        backend=backend,
        modes=_read_modes(modes),
        phase=phase.value,
        device=device.value if device else None,
        inputs=tuple(inputs or ()),
        time_limit=time_limit,
        memory_limit=int(memory_limit * _GIB),
        speed=speed,
        repro=repro,
    )
    if output_file is not None:
        require_report("--output-file", output_file)
    require_torch()
    try:
        config = load_config(Path.cwd())
        warn_of_requirements(config)
        fix = None
        if fixed:
            from tclint.verify.fixer import fixer  # which loads LibCST

            fix = fixer(config, unsafe=unsafe_fixes)
        comparison = Comparison(before, fix, nproc, parallel.value)
        reports = run_jobs(jobs_for(targets or (), config, options), comparison, config)
        text = render(reports, output_format.value)
        if output_file is not None:
            write_report(output_file, text)
    except (TargetError, ConfigError, OSError) as error:
        fail(str(error))
    if output_file is None:
        write(text)
    raise typer.Exit(exit_code(reports))


def _read_modes(text: str) -> tuple[str, ...]:
    from tclint.verify.arms import MODES

    modes = tuple(dict.fromkeys(mode.strip() for mode in text.split(",") if mode.strip()))
    wrong = [mode for mode in modes if mode not in MODES]
    if wrong or not modes:
        raise typer.BadParameter(f"--modes: {text!r} is not one of {', '.join(MODES)}")
    return modes
