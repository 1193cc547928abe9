"""Writing a report into the file that the command line names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import typer

from tclint.cli.exits import ERROR
from tclint.cli.terminal import complain, fail
from tclint.source.discovery import FILE_NAMES
from tclint.source.errors import reason

_SOURCES: Final = (".ipynb", ".py", ".pyi")


def require_report(option: str, file: Path, inputs: Iterable[Path] = ()) -> None:
    """End the command where a report would take the place of source or of a configuration."""
    is_source = file.suffix.lower() in _SOURCES or file.name in FILE_NAMES
    if is_source or any(_are_same(file, path) for path in inputs):
        fail(f"{option} {file}: it is not a report, and would be overwritten; name another file")


def _are_same(file: Path, path: Path) -> bool:
    try:
        return os.path.samefile(file, path)  # noqa: PTH121
    except OSError:
        return False


def write_report(file: Path, text: str) -> None:
    """Write the report; one that cannot be written ends the command."""
    if not could_write(file, text):
        raise typer.Exit(ERROR)


def could_write(file: Path, text: str) -> bool:
    """Write the report; says so where it cannot be written."""
    try:
        file.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    except OSError as error:
        complain(f"cannot write {file}: {reason(error)}")
        return False
    return True
