"""Markdown on a terminal."""

from __future__ import annotations

import io
import shutil
import sys

from rich.console import Console
from rich.markdown import Markdown
from rich.theme import Theme

from tclint.cli.terminal import links_on

_PAGE = 100
"""Columns beyond which prose is hard to read."""


def formatted(markdown: str) -> str:
    """Markdown as a terminal shows it: headings and code in colours, lines that fit."""
    page = io.StringIO()
    width = min(shutil.get_terminal_size().columns, _PAGE)
    # No background, which is wrong on half of all terminals.
    theme = Theme({"markdown.code": "cyan", "markdown.h2": "bold", "markdown.h3": "bold cyan"})
    console = Console(
        file=page, width=width, force_terminal=True, legacy_windows=False, theme=theme
    )
    links = links_on(sys.stdout)
    console.print(Markdown(markdown, hyperlinks=links, code_theme="ansi_dark"))
    return page.getvalue()
