"""A bar on standard error for commands that do a few long things, one after the other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(total: int) -> Iterator[Callable[[int, str], None]]:
    """Show a bar where someone is watching; gives what to tell the number done and what goes on."""
    if not sys.stderr.isatty():
        yield lambda done, doing: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    text = TextColumn("{task.description}", markup=False)
    with Progress(*columns, text, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)

        def show(done: int, doing: str) -> None:
            bar.update(task, completed=done, description=doing)

        yield show
