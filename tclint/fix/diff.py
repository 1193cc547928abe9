"""What fixing changes, as a unified diff that ``git apply`` and ``patch`` take."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Final

from tclint.files import TooLargeError, read_bytes
from tclint.source.decode import MAX_BYTES, decode
from tclint.source.errors import SourceError

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
    """The changes of one file, of a notebook those of each cell, for people.

    ``name`` is its path with slashes, as the patch should say it.
    """
    if file.path.suffix != ".ipynb":
        return diff_of(file.before, file.after, name)
    from tclint.source.notebook import cells_of

    before, after = cells_of(file.before), cells_of(file.after)
    named = ((cell, f"{name}:cell {cell}") for cell in sorted(before.keys() | after.keys()))
    return "".join(diff_of(before.get(n, ""), after.get(n, ""), cell) for n, cell in named)


def diff_of(before: str, after: str, name: str) -> str:
    """The changes of a text; empty where there are none."""
    body = _body(before, after)
    return _head(name) + body if body else ""


def patch_of(file: FixedFile, name: str) -> bytes:
    """The same in the bytes of the file, whatever its encoding; the names are ASCII.

    A notebook's are those of its JSON, as fixing would write it; without a file, those for people.
    """
    if file.path.suffix == ".ipynb":
        lines = _json(file)
        text = unified_diff(file, name) if lines is None else diff_of(*lines, name)
        return text.encode("utf-8", "surrogatepass")
    mark = BOM if file.encoding == "utf-8-sig" else ""
    body = _body(mark + file.before, mark + file.after)
    encoding = "utf-8" if mark else file.encoding
    # Only the text that notebooks show can hold what their encoding cannot.
    return (_head(name).encode() + body.encode(encoding, "surrogatepass")) if body else b""


def _json(file: FixedFile) -> tuple[str, str] | None:
    """The JSON of a notebook before and after; None where it is no file, or another by now."""
    from tclint.source.notebook import with_text

    try:
        data = read_bytes(file.path, MAX_BYTES)
        if decode(file.path, data).text != file.before:
            return None
    except (OSError, TooLargeError, SourceError):
        return None
    return data.decode("utf-8"), with_text(data, file.after).decode("utf-8")


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
