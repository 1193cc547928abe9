"""What fixing changes, as a unified diff that ``git apply`` and ``patch`` take."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tclint.diagnostics import Edit
    from tclint.fix.results import FixedFile
    from tclint.source.file import SourceFile

_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
BOM: Final = "\ufeff"
_FIRST_PRINTABLE: Final = 0x20
_DELETE: Final = 0x7F


def unified_diff(file: FixedFile, name: str) -> str:
    """The changes of one file; ``name`` is its path with slashes, as the patch should say it."""
    return diff_of(file.before, file.after, name)


def diff_of(before: str, after: str, name: str) -> str:
    """The changes of a text; empty where there are none."""
    body = _body(before, after)
    return _head(name) + body if body else ""


def patch_of(file: FixedFile, name: str) -> bytes:
    """The same in the bytes of the file, whatever its encoding; the names are ASCII."""
    mark = BOM if file.encoding == "utf-8-sig" else ""
    body = _body(mark + file.before, mark + file.after)
    encoding = "utf-8" if mark else file.encoding
    # Only the text that notebooks show can hold what their encoding cannot.
    return (_head(name).encode() + body.encode(encoding, "surrogatepass")) if body else b""


def edited(file: SourceFile, edits: Sequence[Edit]) -> str:
    """The text after all edits, none of which overlap."""
    text = file.text
    for edit in sorted(edits, key=lambda edit: file.offset(edit.span.start), reverse=True):
        start, end = file.offset(edit.span.start), file.offset(edit.span.end)
        text = text[:start] + edit.content + text[end:]
    return text


def _body(before: str, after: str) -> str:
    lines = difflib.unified_diff(_lines(before), _lines(after))
    return "".join(map(_closed, list(lines)[2:]))


def _head(name: str) -> str:
    name = name.lstrip("/")  # as `git diff --no-index` names what lies outside
    return f"--- {_quoted('a/' + name)}\n+++ {_quoted('b/' + name)}\n"


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
