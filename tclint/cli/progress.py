"""A bar on standard error for commands that do a few long things, one after the other.

Where no terminal is, each of these things gets a line.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tclint.cli.terminal import note
from tclint.printable import visible


def timed_lines() -> Callable[[str], None]:
    """Gives what to tell each thing that is begun: a line, with the seconds since now."""
    start = time.monotonic()
    return lambda doing: note(f"[{time.monotonic() - start:5.1f} s] {doing}")


@contextmanager
def progress_bar(total: int) -> Iterator[Callable[[int, str], None]]:
    """Show how far things are; gives what to tell the number done and what goes on."""
    if not sys.stderr.isatty():
        tell = timed_lines()
        yield lambda done, doing: tell(doing)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    text = TextColumn("{task.description}", markup=False)
    with Progress(*columns, text, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)

        def show(done: int, doing: str) -> None:
            bar.update(task, completed=done, description=visible(doing))

        yield show
