"""What fixing changes, as a unified diff that ``git apply`` and ``patch`` take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tclint.files import TooLargeError, read_bytes
from tclint.fix.changed_lines import ChangedLines
from tclint.fix.conflicts import changes_of
from tclint.source.decode import MAX_BYTES, decode
from tclint.source.errors import SourceError
from tclint.source.file import SourceFile, spliced

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tclint.fix.changed_lines import Change, Opcode
    from tclint.fix.results import FixedFile

_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
BOM: Final = "\ufeff"
_FIRST_PRINTABLE: Final = 0x20
_DELETE: Final = 0x7F


def unified_diff(file: FixedFile, name: str) -> str:
    """The changes of one file, of a notebook those of each cell, for people.

    ``name`` is its path with slashes, as the patch should say it.
    """
    if file.path.suffix != ".ipynb":
        body = hunks(file.before, _changes(file))
        return _head(name) + body if body else ""
    from tclint.source.notebook import cells_of

    before, after = cells_of(file.before), cells_of(file.after)
    named = ((cell, f"{name}:cell {cell}") for cell in sorted(before.keys() | after.keys()))
    return "".join(diff_of(before.get(n, ""), after.get(n, ""), cell) for n, cell in named)


def diff_of(before: str, after: str, name: str) -> str:
    """The changes of a text; empty where there are none."""
    body = hunks(before, [(0, len(before), after)])
    return _head(name) + body if body else ""


def patch_of(file: FixedFile, name: str) -> bytes:
    """The same in the bytes of the file, whatever its encoding; the names are ASCII.

    A notebook's are those of its JSON, as fixing would write it; without a file, those for people.
    """
    encoding = file.encoding
    if file.path.suffix == ".ipynb":
        from tclint.source.notebook import edits_of

        data = _json(file)
        if data is None:
            return unified_diff(file, name).encode("utf-8", "surrogatepass")
        body = hunks(data.decode("utf-8"), edits_of(data, file.after))
    elif encoding == "utf-8-sig":
        body, encoding = hunks(file.before, _changes(file), BOM), "utf-8"
    else:
        body = hunks(file.before, _changes(file))
    # Only the text that notebooks show can hold what their encoding cannot.
    return (_head(name).encode() + body.encode(encoding, "surrogatepass")) if body else b""


def _json(file: FixedFile) -> bytes | None:
    """The JSON of a notebook before; None where it is no file, or another by now."""
    try:
        data = read_bytes(file.path, MAX_BYTES)
        if decode(file.path, data).text != file.before:
            return None
    except (OSError, TooLargeError, SourceError):
        return None
    return data


def _changes(file: FixedFile) -> list[Change]:
    """What fixes changed; the whole text where they do not tell all of it."""
    source = SourceFile.from_text(file.path, file.before)
    changes = changes_of(source, {edit for fix in file.fixes for edit in fix.edits})
    is_all = spliced(file.before, changes) == file.after
    return changes if is_all else [(0, len(file.before), file.after)]


def hunks(before: str, changes: Sequence[Change], mark: str = "") -> str:
    """A diff without its head; ``mark`` stands at the beginning of the text before and after."""
    lines = ChangedLines(before, changes, _lines)
    old, new = ([mark + side[0], *side[1:]] if side else [] for side in (lines.before, lines.after))
    return "".join(
        _closed(line) for hunk in lines.get_grouped_opcodes() for line in _hunk(hunk, old, new)
    )


def _hunk(opcodes: Sequence[Opcode], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    (_, i, _, k, _), (_, _, j, _, m) = opcodes[0], opcodes[-1]
    yield f"@@ -{_range(i, j)} +{_range(k, m)} @@\n"
    for tag, i, j, k, m in opcodes:
        if tag == "equal":
            yield from (f" {line}" for line in old[i:j])
        else:
            yield from (f"-{line}" for line in old[i:j])
            yield from (f"+{line}" for line in new[k:m])


def _range(start: int, stop: int) -> str:
    """Lines as the head of a hunk counts them: from 1, or from the one before if there are none."""
    size = stop - start
    return f"{start + 1}" if size == 1 else f"{start + (size > 0)},{size}"


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
