"""``tclint trace``: read a recording again, and say which lines cost what."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tclint.cli.terminal import fail, write


def trace(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A recording that `tclint run --keep` left.")
    ],
) -> None:
    """Report what a recording tells, as `tclint run` does after its command."""
    from tclint.config import ConfigError, load_config
    from tclint.printable import printable
    from tclint.run.read import read_folder
    from tclint.run.report.text import render
    from tclint.run.session import answer

    if not folder.is_dir():
        fail(f"{folder}: no such folder")
    try:
        reading = read_folder(folder)
        if not reading.processes:
            fail(f"{folder}: no recording; `tclint run --keep DIR -- COMMAND` makes one")
        told = answer((), None, reading, folder, load_config(Path.cwd()))
    except (ConfigError, OSError) as error:
        fail(str(error))
    write(printable(render(told, Path.cwd()), styled=True))
