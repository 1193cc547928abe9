"""What fixes change, in the colours of git."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclint.fix.diff import patch_of, unified_diff
from tclint.printable import visible
from tclint.report.colour import BOLD, CYAN, GREEN, RED, Paint

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tclint.fix.results import FixedFile
    from tclint.report.view import View

_COLOURS = {"+": (GREEN,), "-": (RED,), "@": (CYAN,)}


def render_diff(files: Iterable[FixedFile], view: View) -> str:
    """The unified diffs of all files, for people: a line shows itself and does nothing else."""
    # The module needs nothing of LibCST, but its package belongs to the fixing side.

    text = "".join(unified_diff(file, view.posix(file.path)) for file in files)
    return coloured(text, Paint(view.colour))


def patch(files: Iterable[FixedFile], view: View) -> bytes:
    """The unified diffs of all files, for ``git apply`` and ``patch``: in the files' own bytes."""
    return b"".join(patch_of(file, view.posix(file.path)) for file in files)


def coloured(diff: str, paint: Paint) -> str:
    """A diff in which each line is only what it looks like; its ends are the terminal's."""
    return "\n".join(
        _coloured(visible(line.removesuffix("\r")), paint) for line in diff.split("\n")
    )


def _coloured(line: str, paint: Paint) -> str:
    header = line.startswith(("--- ", "+++ "))
    codes = (BOLD,) if header else _COLOURS.get(line[:1], ())
    return paint(line, *codes) if codes else line
