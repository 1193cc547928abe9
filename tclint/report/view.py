"""How a report is to be shown, and the words that several formats share."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tclint.records import record

if TYPE_CHECKING:
    from tclint.diagnostics import Diagnostic
    from tclint.lint.rule import Rule


WIDEST: Final = 160
"""How much of a line is shown where no terminal sets a limit."""

_NARROWEST: Final = 20
"""Columns below which prose is not broken into lines."""
_HANGING: Final = 4
_TOP: Final = "<module>"


@record(frozen=True)
class View:
    """What a format may know besides the run.

    Paths are shown relative to ``base`` where they lie below it. ``rules`` are the loaded rules,
    for the formats that describe them. ``width`` is how many columns a line of source may take,
    ``links`` says that the terminal is to make codes links to the rules' pages, and ``fold`` in
    how many columns prose is broken into lines: never, where it is 0.
    """

    base: Path
    colour: bool = False
    rules: Sequence[Rule[Any]] = ()
    width: int = WIDEST
    links: bool = False
    fold: int = 0

    def path(self, path: Path) -> str:
        """A path as people read it: relative to the base, in the platform's own spelling.

        One that begins with ``::`` is shown with its folder: in the log of a GitHub job, a line
        that begins so is a command.
        """
        shown = self._relative(path)
        return f"{os.curdir}{os.sep}{shown}" if shown.startswith("::") else shown

    def _relative(self, path: Path) -> str:
        text = str(path)
        base = str(self.base)
        if not path.is_absolute() or not text.startswith(base):
            return text
        relative = os.path.relpath(text, base)
        return text if relative.startswith(os.pardir) else relative

    def posix(self, path: Path) -> str:
        """The same with forward slashes, for formats that other machines read."""
        return Path(self.path(path)).as_posix()


def absolute(path: Path) -> str:
    """A path that means the same in every folder; ``-`` (standard input) stays."""
    return str(path) if str(path) == "-" else str(path.absolute())


def effect_text(diagnostic: Diagnostic) -> str:
    """What the finding costs, in words: ``graph break (GB0124)``."""
    words = diagnostic.effect.value.replace("-", " ")
    ids = f" ({', '.join(diagnostic.gb_ids)})" if diagnostic.gb_ids else ""
    return words + ids


def chain_text(diagnostic: Diagnostic, view: View) -> str:
    """The way from the region's root to the line: ``Net.forward → helper (ops.py:12)``.

    A step names its file only where it is another one than the finding's. What runs at the top of
    the finding's own file is no step.
    """
    path = str(diagnostic.path)
    steps = [
        link.function
        if link.filename == path
        else f"{link.function} ({view.path(Path(link.filename))}:{link.row})"
        for link in diagnostic.chain
        if (link.function, link.filename) != (_TOP, path)
    ]
    return " → ".join(steps)


def folded(text: str, indent: int, view: View) -> str:
    """Prose in the columns that the view has, all of its lines ``indent`` to the right."""
    room = view.fold - indent
    return f"\n{' ' * indent}".join(_wrapped(text, room)) if room >= _NARROWEST else text


def hanging(text: str, view: View) -> list[str]:
    """Prose as lines in the columns that the view has, all but the first a little to the right."""
    if view.fold < _NARROWEST:
        return [text]
    return _wrapped(text, view.fold, " " * _HANGING)


def _wrapped(text: str, columns: int, below: str = "") -> list[str]:
    return textwrap.wrap(
        text, columns, subsequent_indent=below, break_long_words=False, break_on_hyphens=False
    )


def count(number: int, noun: str, plural: str = "") -> str:
    """``1 finding``, ``2 findings``."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"
