"""Gitignore patterns, with the two commonest shapes matched without regular expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Final

from tclint.records import record

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_NAME: Final = re.compile(r"[\w.-][\w. -]*(?<! )/?")
_SUFFIX: Final = re.compile(r"\*(\.\w+)")


@record(frozen=True)
class Patterns:
    """An ordered list of patterns: the last one that matches decides, ``!`` takes back.

    Plain names (``build``, ``.venv/``) and suffixes (``*.py``) are kept apart, unless a ``!``
    makes the order matter: pathspec costs 25 ms to import and tries one pattern after the other.
    """

    names: frozenset[str] = frozenset()
    folder_names: frozenset[str] = frozenset()
    suffixes: tuple[str, ...] = ()
    spec: GitIgnoreSpec | None = field(default=None, compare=False)

    def match(self, relative: str, name: str, *, folder: bool) -> bool | None:
        """Judge one entry by itself, not by the folders above it.

        ``relative`` is its path from the patterns' own folder with ``/`` between the parts. True
        means matched, False taken back by a ``!`` pattern, None not mentioned.
        """
        if name in self.names or (folder and name in self.folder_names):
            return True
        if self.suffixes and name.endswith(self.suffixes):
            return True
        if self.spec is None:
            return None
        return self.spec.check_file(relative + "/" if folder else relative).include


def compile_patterns(lines: Iterable[str]) -> Patterns:
    """Compile the lines of a ``.gitignore`` or of a list of globs; invalid lines match nothing."""
    kept = [line for line in map(_clean, lines) if line]
    names: set[str] = set()
    folders: set[str] = set()
    suffixes: list[str] = []
    others: list[str] = []
    if any(line.startswith("!") for line in kept):
        return Patterns(spec=_spec(kept))
    for line in kept:
        if _NAME.fullmatch(line):
            (folders if line.endswith("/") else names).add(line.rstrip("/"))
        elif suffix := _SUFFIX.fullmatch(line):
            suffixes.append(suffix[1])
        else:
            others.append(line)
    return Patterns(frozenset(names), frozenset(folders), tuple(suffixes), _spec(others))


def is_valid(pattern: str) -> bool:
    """Tell whether a pattern can be compiled."""
    line = _clean(pattern)
    return not line or bool(_NAME.fullmatch(line) or _SUFFIX.fullmatch(line) or _spec([line]))


def _clean(line: str) -> str:
    """Drop comments and the line end; a trailing space counts only after a backslash."""
    line = line.rstrip("\r\n")
    if line.startswith("#"):
        return ""
    return line if line.endswith("\\ ") else line.rstrip(" ")


def _spec(lines: list[str]) -> GitIgnoreSpec | None:
    if not lines:
        return None
    from pathspec import GitIgnoreSpec

    valid = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        valid.append(line)
    return GitIgnoreSpec.from_lines(valid) if valid else None
