"""``tclint upgrade``."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from tclint.cli import options

if TYPE_CHECKING:
    from tclint.upgrade.changes import Step


class Format(str, Enum):
    """How the difference is printed."""

    TEXT = "text"
    JSON = "json"


def upgrade(
    paths: options.Paths = None,
    *,
    old: Annotated[
        str,
        typer.Option(
            "--from", metavar="VERSION", help="Torch version that you use now, e.g. 2.13."
        ),
    ],
    new: Annotated[
        str, typer.Option("--to", metavar="VERSION", help="Torch version to upgrade to, e.g. 2.15.")
    ],
    output_format: Annotated[Format, typer.Option(help="Format of the report.")] = Format.TEXT,
    config: options.ConfigOption = None,
    isolated: options.Isolated = False,
    scope: options.Scope = None,
    weak: options.Weak = False,
    jobs: options.Jobs = 0,
) -> None:
    """Report what changes from one release of torch to another.

    That is: lines that start to break, recompile or raise; names that are removed; lines that stop
    being a problem; and workarounds that can be removed. Neither torch nor your code is imported or
    run. Exits with 1 if something breaks or is removed.
    """
    from tclint.cli.checking import complain_about, make_view
    from tclint.cli.configuration import Overrides
    from tclint.cli.execution import Means, execution
    from tclint.cli.exits import CLEAN, ERROR, FINDINGS
    from tclint.cli.inputs import gather
    from tclint.cli.terminal import write
    from tclint.lint.engine import Run
    from tclint.upgrade import report
    from tclint.upgrade.changes import Kind
    from tclint.upgrade.changes import upgrade as compared

    step = _step(old, new)
    overrides = Overrides(entries=config or (), isolated=isolated, scope=scope, weak=weak)
    inputs = gather(paths, overrides, None)
    how = execution(inputs, paths, Means(jobs, use_cache=False))
    found = compared(inputs.parts, step, how)
    view = make_view(colour=False)
    run = Run((), (*inputs.errors, *found.errors), found.files)
    complain_about(run, view)
    render = report.as_json if output_format is Format.JSON else report.as_text
    write(render(found, view.path))
    worse = any(change.kind in (Kind.BREAKS, Kind.GONE) for change in found.changes)
    raise typer.Exit(ERROR if run.unread else FINDINGS if worse else CLEAN)


def _step(old: str, new: str) -> Step:
    """The releases, which have to be in their order."""
    from tclint.cli.terminal import fail
    from tclint.torch_bounds.releases import BoundsError, minor_version
    from tclint.upgrade.changes import Step

    try:
        step = Step(minor_version(old), minor_version(new))
    except BoundsError as error:
        fail(str(error))
    if step.old >= step.new:
        fail(f"--from {old} is not older than --to {new}")
    return step
