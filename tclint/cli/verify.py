"""``tclint verify``: compile targets, and see what really breaks, recompiles and waits."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tclint.cli.terminal import fail, write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tclint.config import Config
    from tclint.verify.arms import Options
    from tclint.verify.results import TargetReport
    from tclint.verify.session import Comparison

_GIB = 1024**3


class Format(str, Enum):
    """How to print the report."""

    TEXT = "text"
    JSON = "json"


class Mode(str, Enum):
    """The mode for targets that do not call ``torch.compile`` themselves."""

    DEFAULT = "default"
    REDUCE_OVERHEAD = "reduce-overhead"
    MAX_AUTOTUNE = "max-autotune"


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
            "(module_or_callable, args, kwargs). Default: verify-targets of the configuration.",
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
    output_format: Annotated[Format, typer.Option(help="How to print the report.")] = Format.TEXT,
    mode: Annotated[Mode, typer.Option(help="torch.compile mode to time.")] = Mode.DEFAULT,
    backend: Annotated[str, typer.Option(help="torch.compile backend to time.")] = "inductor",
    device: Annotated[
        Device | None, typer.Option(help="Move the target there. Default: leave it alone.")
    ] = None,
    time_limit: Annotated[
        float, typer.Option(min=1.0, help="Seconds that each child process may take.")
    ] = 600.0,
    memory_limit: Annotated[
        float, typer.Option(min=0.0, help="GiB of memory for each child process; 0: no limit.")
    ] = 0.0,
    speed: Annotated[bool, typer.Option(help="Time the target as well.")] = True,
) -> None:
    """Compile targets in child processes: breaks, recompiles, syncs, equal numbers, speed."""
    from tclint.config import ConfigError, load_config
    from tclint.verify.arms import Options
    from tclint.verify.session import Comparison, exit_code
    from tclint.verify.targets import TargetError

    if before is not None and fixed:
        raise typer.BadParameter("--before and --fixed are two different comparisons")
    options = Options(
        backend=backend,
        mode=mode.value,
        device=device.value if device else None,
        time_limit=time_limit,
        memory_limit=int(memory_limit * _GIB),
        speed=speed,
    )
    try:
        config = load_config(Path.cwd())
        wanted = {text: text for text in targets or ()}
        wanted = wanted or {entry.target: entry.name for entry in config.verify_targets}
        comparison = Comparison(before, _fixer(config) if fixed else None)
        reports = _run(wanted, comparison, options, config)
    except (TargetError, ConfigError) as error:
        fail(str(error))
    write(_render(reports, output_format) + "\n")
    raise typer.Exit(exit_code(reports))


def _run(
    targets: Mapping[str, str], comparison: Comparison, options: Options, config: Config
) -> list[TargetReport]:
    from tclint.verify.session import before_and_after, verify_target
    from tclint.verify.targets import TargetError

    if not targets:
        raise TargetError("no target: name one, or list verify-targets in the configuration")
    reports = []
    for text, name in targets.items():
        with before_and_after(text, Path.cwd(), comparison) as sides:
            reports.append(verify_target(name, sides, options, config))
    return reports


def _fixer(config: Config) -> Callable[[Sequence[Path]], Mapping[str, str]]:
    """What ``tclint fix`` makes of some files, without writing them."""

    def fix(files: Sequence[Path]) -> Mapping[str, str]:
        from tclint.fix.apply import fix_files

        changed = fix_files(files, config).changed
        return {str(file.path.resolve()): file.after for file in changed}

    return fix


def _render(reports: Sequence[TargetReport], output_format: Format) -> str:
    from tclint.verify.record import as_json
    from tclint.verify.report import as_text

    if output_format is Format.JSON:
        return as_json(reports)
    return as_text(reports, Path.cwd())
