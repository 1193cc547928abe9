"""Colours for terminals, as plain ANSI sequences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

BOLD = "1"
RED = "31"
GREEN = "32"
YELLOW = "33"
BLUE = "34"
MAGENTA = "35"
CYAN = "36"


def wants_colour(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether to colour a stream: NO_COLOR forbids, FORCE_COLOR demands, else terminals only."""
    if environment.get("NO_COLOR"):
        return False
    forced = environment.get("FORCE_COLOR")
    if forced:
        return forced != "0"
    return stream.isatty() and environment.get("TERM") != "dumb"


def wants_links(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether to write links that terminals open: FORCE_HYPERLINK demands, else terminals only."""
    forced = environment.get("FORCE_HYPERLINK")
    if forced:
        return forced != "0"
    return stream.isatty() and environment.get("TERM") != "dumb"


def linked(text: str, address: str) -> str:
    """Text that opens an address where the terminal knows OSC 8, and is only text elsewhere."""
    return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\"


class Paint:
    """Wraps text in ANSI sequences, or leaves it as it is."""

    def __init__(self, enabled: bool) -> None:
        """Colour only when ``enabled``."""
        self._enabled = enabled

    def __call__(self, text: str, *codes: str) -> str:
        """``text`` in the given colours."""
        if not self._enabled or not text:
            return text
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m"
