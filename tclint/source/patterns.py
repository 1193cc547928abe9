"""Gitignore patterns, with the two commonest shapes matched without regular expressions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Final

from tclint.records import record
from tclint.regexes import regex

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_NAME: Final = regex(r"[\w.-][\w. -]*(?<! )/?")
_SUFFIX: Final = regex(r"\*(\.\w+)")
_ANY: Final = "[^/]*"
"""What pathspec makes of ``*``."""
_SET: Final = regex(r"(?<!\\)\[(?!\^/\])(?:\\.|[^\]\\])+\]")
# A star, then characters, escaped ones, `?` and sets, up to the next star of the same part.
_BEFORE_ANOTHER: Final = regex(
    rf"\[\^/\]\*((?:\\.|\[\^/\](?!\*)|{_SET.pattern}|[^\\\[\](){{}}*+?/^$|.])+)(?=\[\^/\]\*)"
)
_BETWEEN: Final = "(?:/.+)?"
"""What pathspec makes of the ``**`` in ``a/**/b``, and before the ``a`` in ``**/a``:"""
_BEFORE: Final = "^(?:.+/)?"


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
    if not valid:
        return None
    spec = GitIgnoreSpec.from_lines(valid)
    for pattern in spec.patterns:
        regex = getattr(pattern, "regex", None)
        if regex is not None:
            pattern.regex = re.compile(_first_folders(_first_stars(regex.pattern)))
    return spec


def _first_folders(regex: str) -> str:
    """The regular expression, in which a ``**`` before another one takes the first that it can.

    As with ``*``: ``**/a/**/a/**/a/**/b`` takes a time that grows with every ``**``.
    """
    *early, last = regex.split(_BETWEEN)
    if not early:
        return regex
    head, *middle = early
    if head.startswith(_BEFORE):
        parts = ["^", *_first(0, f"(?:.+?/)??{head.removeprefix(_BEFORE)}")]
    else:
        parts = [head]
    for number, piece in enumerate(middle, start=1):
        parts += _first(number, f"(?:/.+?)??{piece}")
    return "".join([*parts, _BETWEEN, last])


def _first(number: int, folders: str) -> tuple[str, str]:
    """What matches folders the first way that fits, and no other."""
    return f"(?=(?P<deep{number}>{folders})/)", f"(?P=deep{number})"


def _first_stars(regex: str) -> str:
    """The regular expression, in which a ``*`` before another one takes the first that it can.

    What comes after is found all the same, since the other ``*`` passes over the rest; without
    this, ``*a*a*a*a*b`` takes a time that grows with every ``*``. Python 3.10 has no atomic groups.
    """
    if regex.count(_ANY) < 2:
        return regex
    numbers = itertools.count()

    def first_only(found: re.Match[str]) -> str:
        name = f"star{next(numbers)}"
        # A set takes no slash, as in git; else the first that fits would not be the best one.
        between = _SET.sub(r"(?!/)\g<0>", found[1])
        return f"(?=(?P<{name}>[^/]*?{between}))(?P={name})"

    return _BEFORE_ANOTHER.sub(first_only, regex)
