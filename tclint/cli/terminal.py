"""Writing to the terminal: encodings, colours, readers that hang up, and messages."""

from __future__ import annotations

import io
import os
import shutil
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn, TextIO

import typer

from tclint.cli.exits import ERROR
from tclint.printable import printable
from tclint.report.colour import BOLD, RED, YELLOW, Paint, wants_colour, wants_links
from tclint.report.view import WIDEST
from tclint.source.errors import reason


def prepare_streams() -> None:
    """Make sure that all text can be printed, and that warnings read like our own."""
    # The interpreter has no stream where somebody closed it: one with nobody at the other end.
    sys.stdin = sys.stdin or io.TextIOWrapper(io.BytesIO())
    sys.stdout = sys.stdout or io.TextIOWrapper(io.BytesIO())
    sys.stderr = sys.stderr or io.TextIOWrapper(io.BytesIO())
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
    warnings.showwarning = _show_warning


def colour_on(stream: TextIO) -> bool:
    """Whether to colour what is written to a stream."""
    return wants_colour(stream, os.environ)


def links_on(stream: TextIO) -> bool:
    """Whether to write links that the terminal opens."""
    return wants_links(stream, os.environ)


def terminal_width() -> int:
    """How many columns there are; a pipe has many, unless COLUMNS says otherwise."""
    return shutil.get_terminal_size((WIDEST, 0)).columns


def for_programs(stream: TextIO) -> bool:
    """Whether what reads a stream wants every byte as it is: nobody looks at it."""
    return not stream.isatty() and not colour_on(stream)


def write(text: str, *, styled: bool = False) -> None:
    """Print to standard output; when its reader has gone (``| head``), print no more.

    Nothing in the text moves the cursor; colours and links stay if it is ``styled``.
    """
    with _output():
        sys.stdout.write(printable(text, styled=styled))
        sys.stdout.flush()


def write_bytes(data: bytes, encoding: str = "utf-8") -> None:
    """Print bytes as they are, without the platform's line ends; people see printable text."""
    if not for_programs(sys.stdout):
        write(data.decode(encoding, "replace").replace("\r\n", "\n"))
        return
    with _output():
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


@contextmanager
def _output() -> Iterator[None]:
    """Turn what goes wrong with standard output into one error, or none where nobody reads."""
    try:
        yield
    except OSError as error:
        # The interpreter flushes once more at exit: give it a stream that still takes bytes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            fail(f"cannot write to standard output: {reason(error)}")


_told: list[str] = []


def note(text: str) -> None:
    """Tell people something that does not belong to the report."""
    _say("", text)


def _say(kind: str, text: str) -> None:
    _told[:] = [text]  # the last is enough, and a server may say much
    with suppress(OSError):  # there is no other place to say it
        sys.stderr.write(f"{kind}{printable(text)}\n")


def aside(text: str) -> None:
    """Tell people beside a report what belongs to it, and is remembered with it."""
    if text:
        with suppress(OSError):
            sys.stderr.write(f"{printable(text)}\n")


def has_told() -> bool:
    """Whether this process has said anything besides its report."""
    return bool(_told)


def warn(message: str) -> None:
    """A warning on standard error."""
    _say(f"{Paint(colour_on(sys.stderr))('warning', YELLOW, BOLD)}: ", message)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Python's warnings without the line of code that raised them: it is not the user's."""
    warn(str(message).removeprefix("tclint: "))


def complain(message: str) -> None:
    """An error on standard error; the run goes on."""
    _say(f"{Paint(colour_on(sys.stderr))('error', RED, BOLD)}: ", message)


def fail(message: str) -> NoReturn:
    """End the command because nothing can be done."""
    complain(message)
    raise typer.Exit(ERROR)


def warn_of_other_names(paths: Iterable[Path]) -> None:
    """Say of files with several names that only one of them was written."""
    for path in paths:
        warn(f"{path} has other names (hard links), which keep the old text")
