"""``tclint trace``: read a recording again, and say which lines cost what."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tclint.cli.run import Format
from tclint.cli.terminal import fail, write
from tclint.files import exists


def trace(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="A recording kept by `tclint run --keep`, a folder that TORCH_TRACE wrote, or a "
            "log file written with TORCH_LOGS=graph_breaks,recompiles.",
        ),
    ],
    *,
    output_format: Annotated[Format, typer.Option(help="Format of the report.")] = Format.TEXT,
    output_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report to a file.")
    ] = None,
) -> None:
    """Report on a recording, as `tclint run` does after its command.

    The files it names are looked for where they were, then below the current folder.
    """
    from tclint.cli.report_file import require_report, write_report
    from tclint.cli.running import render
    from tclint.config import ConfigError, load_config
    from tclint.run.moved import moved
    from tclint.run.read import Reading, read_folder
    from tclint.run.session import answer
    from tclint.run.torch_trace import read_torch
    from tclint.source.errors import reason

    if output_file is not None:
        require_report("--output-file", output_file)
    if not exists(path):
        fail(f"{path}: no such file or folder")
    try:
        reading = read_folder(path) if path.is_dir() else Reading(())
        if not reading.processes:
            reading = moved(read_torch(path), Path.cwd())
        folder = path if path.is_dir() else path.parent
        told = answer((), None, reading, folder, load_config(Path.cwd()))
    except ValueError as error:
        fail(f"{path}: {error}; `tclint run --keep DIR -- COMMAND` makes a recording")
    except OSError as error:
        fail(f"{error.filename or path}: {reason(error)}")
    except ConfigError as error:
        fail(str(error))
    text = render(told, output_format.value)
    if output_file is not None:
        write_report(output_file, text)
    else:
        write(text)
