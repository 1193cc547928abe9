"""What a file imports and what its top level consists of, by its text alone.

That is all it takes to tell which files may call into another: thousands of files are looked at,
of which a few are parsed in the end. What only looks like an import, in a docstring, does no harm.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from tclint.regexes import regex

_IMPORT: Final = regex(
    r"\n[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*"
    r"(\((?:[^)#]|#[^\n]*\n)*\)|[^\n;#\\]*(?:\\\r?\n[^\n;#\\]*)*)|import[ \t]+([^\n;#]*))"
)
_COMMENT: Final = regex(r"#[^\n]*")
_TOP: Final = regex(r"^(?=[^\s)\]}#])", re.M)
_DEFINED: Final = regex(r"(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)")
_DEFINED_BELOW: Final = regex(
    r"^[ \t]+(?:(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|(\w+)[ \t]*=(?!=))", re.M
)
_CHAIN: Final = regex(r"(?:\.\w+)+")
_WORD: Final = regex(r"\w+")
MODULE: Final = ""
"""What an import of a whole module names."""
STAR: Final = "*"


class Import(NamedTuple):
    """The names that a file takes from a module: what they are there, and in the file.

    ``source`` is spelt as in the file. ``import a.b`` takes the module ``a.b`` and binds ``a``.
    """

    source: str
    names: tuple[tuple[str, str], ...]


def imports(text: str) -> tuple[Import, ...]:
    """What a file imports, wherever in it."""
    if "import" not in text:
        return ()
    return tuple(one for found in _IMPORT.findall("\n" + text) for one in _imports(*found))


def _imports(source: str, names: str, modules: str) -> Iterator[Import]:
    if source:
        names = _COMMENT.sub("", names).replace("\\", " ").strip("()")
        yield Import(source, tuple(_aliases(names)))
    for name, alias in _aliases(modules):
        local = alias if alias != name else name.partition(".")[0]
        yield Import(name, ((MODULE, local),))


class Use(NamedTuple):
    """How a file refers to what it imports: by a name, or by one that has others behind it.

    ``behind`` are those of which one has to follow, as ``f`` does in ``a.b.f``; None for any.
    """

    name: str
    behind: frozenset[str] | None = None


def _aliases(names: str) -> Iterator[tuple[str, str]]:
    for item in names.split(","):
        match item.split():
            case [name]:
                yield name, name
            case [name, "as", alias]:
                yield name, alias


class Part(NamedTuple):
    """A statement of the top level, by its place in the text, and the names that it binds."""

    start: int
    end: int
    names: tuple[str, ...]


class Outline:
    """The top level of a file."""

    def __init__(self, text: str) -> None:
        self.text: Final = text
        self._parts: Final = [*_parts(text)]
        self._starts: Final = [part.start for part in self._parts]

    @property
    def names(self) -> set[str]:
        """What the top level binds, but for what it imports."""
        return {name for part in self._parts for name in part.names}

    def mentions(self, name: str) -> bool:
        """Whether a word stands in the file."""
        return next(_places(self.text, name), None) is not None

    def reached(self, uses: Iterable[Use]) -> dict[str, Part]:
        """The definitions that rest on what is imported, directly or through others of the file."""
        found: dict[str, Part] = {}
        pending = [*uses]
        asked = set(pending)
        while pending:
            for part in self._around(pending.pop()):
                for name in part.names:
                    if name == "__all__":
                        continue
                    found[name] = part
                    use = Use(name)
                    if use not in asked:
                        asked.add(use)
                        pending.append(use)
        return found

    def _around(self, use: Use) -> Iterator[Part]:
        """The statements that refer to something, each once."""
        last = -1
        for place in _places(self.text, use.name):
            if place < last:
                continue
            if use.behind is not None:
                chain = _CHAIN.match(self.text, place + len(use.name))
                if chain is None or use.behind.isdisjoint(chain[0].split(".")):
                    continue
            at = bisect_right(self._starts, place) - 1
            if at >= 0:
                last = self._parts[at].end
                yield self._parts[at]


def _places(text: str, word: str) -> Iterator[int]:
    place, size = text.find(word), len(word)
    while place >= 0:
        before, after = text[place - 1 : place], text[place + size : place + size + 1]
        if not (before.isalnum() or before == "_" or after.isalnum() or after == "_"):
            yield place
        place = text.find(word, place + size)


def _parts(text: str) -> Iterator[Part]:
    starts = [found.start() for found in _TOP.finditer(text)]
    begin = None
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        begin = start if begin is None else begin
        if text[start] != "@":  # decorators belong to what follows
            yield Part(begin, end, tuple(_bound(text, start, end)))
            begin = None


def _bound(text: str, start: int, end: int) -> Iterator[str]:
    """The names that a statement binds; of several targets all words."""
    defined = _DEFINED.match(text, start, end)
    if defined is not None:
        yield defined[1]
    elif text.startswith(("if ", "if(", "try:", "else:", "except", "with ", "for "), start):
        for one in _DEFINED_BELOW.finditer(text, start, end):
            yield one[1] or one[2]
    elif not text.startswith(("from ", "import "), start):
        targets, sign, _ = text[start:end].partition("\n")[0].partition("=")
        yield from _WORD.findall(targets.partition(":")[0]) if sign else ()
