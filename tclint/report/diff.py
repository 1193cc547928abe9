"""What fixes change, in the colours of git."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclint.report.colour import BOLD, CYAN, GREEN, RED, Paint

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tclint.fix.results import FixedFile
    from tclint.report.view import View

_COLOURS = {"+": (GREEN,), "-": (RED,), "@": (CYAN,)}


def render_diff(files: Iterable[FixedFile], view: View) -> str:
    """The unified diffs of all files."""
    # The module needs nothing of LibCST, but its package belongs to the fixing side.
    from tclint.fix.diff import unified_diff

    text = "".join(unified_diff(file, view.posix(file.path)) for file in files)
    return painted(text) if view.colour else text


def painted(diff: str) -> str:
    """Colour a unified diff; carriage returns stay outside the colours."""
    paint = Paint(enabled=True)
    lines: list[str] = []
    for line in diff.split("\n"):
        body = line.rstrip("\r")
        header = body.startswith(("--- ", "+++ "))
        codes = (BOLD,) if header else _COLOURS.get(body[:1], ())
        lines.append((paint(body, *codes) if codes else body) + line[len(body) :])
    return "\n".join(lines)
