"""Reads unified diffs: which lines of which files are new, and which ones a hunk shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tclint.records import record

_RANGES: Final = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE: Final = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPED: Final = {
    b"a": b"\a",
    b"b": b"\b",
    b"t": b"\t",
    b"n": b"\n",
    b"v": b"\v",
    b"f": b"\f",
    b"r": b"\r",
}


@record(frozen=True, order=True)
class Added:
    """A run of lines, added or shown, 1-based and inclusive, as the new file numbers them."""

    first: int
    last: int

    def holds(self, first: int, last: int) -> bool:
        """Whether a stretch of lines lies wholly inside."""
        return self.first <= first and last <= self.last


def added_lines(diff: bytes) -> dict[str, tuple[Added, ...]]:
    """The added lines by the new paths of the files.

    Deleted files, binary files, and files that were only renamed or changed their mode have none.
    """
    found: dict[str, tuple[Added, ...]] = {}
    path: str | None = None
    lines = iter(diff.split(b"\n"))
    for line in lines:
        if line.startswith(b"diff --git "):
            path = None
        elif line.startswith(b"+++ "):
            path = _new_path(line[4:])
        elif (ranges := _RANGES.match(line)) is not None:
            runs = tuple(_runs(lines, ranges))
            if path is not None and runs:
                found[path] = (*found.get(path, ()), *runs)
    return found


def shown_lines(patch: str) -> tuple[Added, ...]:
    """The lines of the new file that the hunks of one file show, their context included."""
    found: list[Added] = []
    lines = iter(patch.encode("utf-8", "surrogatepass").split(b"\n"))
    for line in lines:
        if (ranges := _RANGES.match(line)) is not None:
            count = int(ranges[3]) if ranges[3] is not None else 1
            if count:
                found.append(Added(int(ranges[2]), int(ranges[2]) + count - 1))
            for _ in _runs(lines, ranges):
                pass
    return tuple(found)


def _runs(lines: Iterator[bytes], ranges: re.Match[bytes]) -> Iterator[Added]:
    """Consume the body of a hunk: it may hold lines that look like headers."""
    old_left, row, new_left = (int(n) if n is not None else 1 for n in ranges.groups())
    first: int | None = None
    while old_left > 0 or new_left > 0:
        kind = next(lines, b"")[:1]
        if kind == b"\\":
            continue
        if kind == b"+":
            first = row if first is None else first
        elif first is not None:
            yield Added(first, row - 1)
            first = None
        if kind != b"+":
            old_left -= 1
        if kind != b"-":
            new_left -= 1
            row += 1
    if first is not None:
        yield Added(first, row - 1)


def decode_path(path: bytes) -> str:
    """A path of the repository; bytes that are not UTF-8 survive as surrogates."""
    return path.decode("utf-8", "surrogateescape")


def _new_path(text: bytes) -> str | None:
    """The path behind ``+++``; a tab follows it when it holds spaces."""
    if text.startswith(b'"'):
        text = _ESCAPE.sub(_unescape, text[1 : text.rindex(b'"')])
    else:
        text = text.partition(b"\t")[0]
    return None if text == b"/dev/null" else decode_path(text.removeprefix(b"b/"))


def _unescape(match: re.Match[bytes]) -> bytes:
    escaped = match[1]
    if len(escaped) == 3:
        return bytes([int(escaped, 8)])
    return _ESCAPED.get(escaped, escaped)
