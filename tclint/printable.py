"""Text that only shows itself, for everything that goes to a terminal or into a report.

Names of files, source lines and messages come from whoever wrote the code. Control characters
would let them move the cursor, rewrite the screen or hide what follows; characters without a
picture (directions of writing, widths of zero, separators, halves of surrogate pairs) would let a
line look like another one. None of them leaves tclint: a picture stands in their place.
"""

from __future__ import annotations

import json
import unicodedata
from typing import Any, Final

from tclint.regexes import regex

TAB: Final = "    "
DELETE: Final = 0x7F
_FIRST_PRINTABLE: Final = 0x20
_PICTURES: Final = 0x2400
_OWN: Final = regex("(\x1b\\[[0-79;]*m|\x1b]8;;[!-~]*\x1b\\\\)")
"""Colours, but none that hides, and links: what reports put between other text by themselves."""
_HALF: Final = regex("[\ud800-\udfff]")


def visible(text: str) -> str:
    """One line: control characters become their pictures, tabs spaces."""
    return text if text.isprintable() else text.translate(_table(text))


def printable(text: str, *, styled: bool = False) -> str:
    """Several lines; if ``styled``, tclint's own colours and links stay."""
    table = _table(text)
    table.pop(ord("\n"), None)
    if not table:
        return text
    if not styled:
        return text.translate(table)
    parts = _OWN.split(text)
    return "".join(part if i % 2 else part.translate(table) for i, part in enumerate(parts))


def json_text(value: object, *, indent: int | None = 2) -> str:
    """JSON that every reader takes, in ASCII: strict ones refuse halves of surrogate pairs."""
    return json.dumps(_whole(value), indent=indent)


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return _HALF.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return [*map(_whole, value)] if isinstance(value, (list, tuple)) else value


def _table(text: str) -> dict[int, str]:
    """What stands for each character of a text that does not show itself."""
    return {ord(c): _picture(c) for c in set(text) if not c.isprintable() and not _is_space(c)}


def _is_space(character: str) -> bool:
    return unicodedata.category(character) == "Zs"


def _picture(character: str) -> str:
    code = ord(character)
    if character == "\t":
        return TAB
    if code < _FIRST_PRINTABLE:
        return chr(_PICTURES + code)
    return "\N{SYMBOL FOR DELETE}" if code == DELETE else "\N{REPLACEMENT CHARACTER}"
