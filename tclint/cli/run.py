"""``tclint run``: record a command, and say which of its lines cost what."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tclint.cli.terminal import fail, note, write


def run(
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="-- COMMAND...",
            help="The command as in a shell: `python train.py`, `python -m pkg`, `torchrun ...`, "
            "`accelerate launch ...`, `pytest ...`, a console script.",
        ),
    ],
    *,
    steps: Annotated[
        int, typer.Option(min=0, help="End the command after this many steps; 0: let it end.")
    ] = 0,
    warm_up: Annotated[int, typer.Option(min=0, help="Steps at the start that do not count.")] = 10,
    step_marker: Annotated[
        str,
        typer.Option(
            metavar="PLACE",
            help="What ends a step: FILE:LINE or package.module:function. "
            "Default: optimizer.step(), or else backward().",
        ),
    ] = "",
    keep: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the recording here, for `tclint trace DIR`."),
    ] = None,
) -> None:
    """Run a command with a recorder in it, and rank its lines by what they cost in a step.

    The command's output, results and exit status stay as they are; tclint ends with its status.
    """
    from tclint.config import ConfigError, load_config
    from tclint.errors import UserError
    from tclint.printable import printable
    from tclint.run.launch import Settings, launch
    from tclint.run.read import read_folder
    from tclint.run.report.text import render
    from tclint.run.session import answer
    from tclint.scratch import scratch

    try:
        config = load_config(Path.cwd())
        with scratch("run") as desk:
            folder = _folder(keep) if keep is not None else desk
            settings = Settings(steps=steps, warm_up=warm_up, marker=step_marker)
            ended = launch(command, folder, settings)
            told = answer(command, ended, read_folder(folder), folder, config)
            text = render(told, Path.cwd())
    except (UserError, ConfigError, OSError) as error:
        fail(str(error))
    write(printable(text, styled=True))
    if keep is not None:
        note(f"the recording is in {keep}; `tclint trace {keep}` reads it again")
    raise typer.Exit(ended.status)


def _folder(keep: Path) -> Path:
    keep.mkdir(parents=True, exist_ok=True)
    if any(keep.iterdir()):
        fail(f"{keep}: --keep needs a folder that is empty, or not there yet")
    return keep
