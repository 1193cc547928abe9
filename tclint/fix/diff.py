"""What fixing changes, as a unified diff that ``git apply`` and ``patch`` take."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tclint.fix.results import FixedFile

_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_FIRST_PRINTABLE: Final = 0x20
_DELETE: Final = 0x7F


def unified_diff(file: FixedFile, name: str) -> str:
    """The changes of one file; ``name`` is its path with slashes, as the patch should say it."""
    lines = difflib.unified_diff(_lines(file.before), _lines(file.after))
    body = "".join(map(_closed, list(lines)[2:]))
    if not body:
        return ""
    name = name.lstrip("/")  # as `git diff --no-index` names what lies outside
    return f"--- {_quoted('a/' + name)}\n+++ {_quoted('b/' + name)}\n{body}"


def _lines(text: str) -> list[str]:
    """Split like git, which knows one line end: a carriage return is text before it."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop().removesuffix("\n")
    return [*lines, last] if last else lines


def _closed(line: str) -> str:
    return line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"


def _quoted(path: str) -> str:
    """A path as git writes it: quoted like C where it has odd characters."""
    if all(_plain(character) for character in path):
        return path + "\t" if " " in path else path
    return '"' + "".join(_ESCAPES.get(c) or _octal(c) for c in path) + '"'


def _plain(character: str) -> bool:
    return character not in _ESCAPES and _FIRST_PRINTABLE <= ord(character) < _DELETE


def _octal(character: str) -> str:
    if _FIRST_PRINTABLE <= ord(character) < _DELETE:
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))
