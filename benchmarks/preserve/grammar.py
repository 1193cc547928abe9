"""Expand a grammar: alternatives by name, with holes for other names and for variables in reach.

``<branch>`` is any alternative of ``branch``, and ``<branch?>`` one of them or nothing. A capital
letter is a variable of that kind: ``<V>`` one in reach, ``<V1>`` the same one wherever the piece
says ``V1``, ``<+V>`` a new one. ``<arm>`` keeps the variables that it makes to itself.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

Grammar = Mapping[str, Sequence[str]]

_HOLE = re.compile(r"<(\+?)([A-Z]|[a-z_]+)(\d?)(\??)>")
_DEEPEST = 6
HERO = "H"
"""The tensor that a program is about: what is read, viewed and written most."""
_WRITTEN = "W"
_TENSORS = ("P", "V", "M", "S")


class Writer:
    """Writes one piece of a program; ``reach`` are the expressions of each kind."""

    def __init__(self, grammar: Grammar, chance: random.Random) -> None:
        """Nothing is in reach yet."""
        self.grammar, self.chance = grammar, chance
        self.reach: dict[str, list[str]] = {}
        self._count = 0

    def expand(self, name: str, depth: int = 0) -> str:
        """Text for a name of the grammar."""
        kept = {kind: [*names] for kind, names in self.reach.items()} if name == "arm" else None
        options = self.grammar[name]
        if depth > _DEEPEST:
            options = [one for one in options if not re.search(r"<(arm|walk|body)", one)] or options
        text = self.fill(self.chance.choice(options), depth + 1)
        if kept is not None:
            self.reach = kept
        return text

    def fill(self, template: str, depth: int = 0) -> str:
        """A template with its holes filled, the new variables in reach only after it."""
        chosen: dict[str, str] = {}
        lines: list[str] = []
        for line in template.split("\n"):
            lines.append(self._line(line, chosen, depth))
        return "\n".join(line for line in "\n".join(lines).split("\n") if line.strip())

    def _line(self, line: str, chosen: dict[str, str], depth: int) -> str:
        """A line filled; what it makes can be read from the next line on."""
        indent = "\n" + line[: len(line) - len(line.lstrip())]
        made: dict[str, str] = {}
        text, end = "", 0
        for hole in _HOLE.finditer(line):
            text += line[end : hole.start()]
            text += self._hole(hole, chosen, made, depth).replace("\n", indent)
            end = hole.end()
        chosen.update(made)
        for key, name in made.items():
            self.bind(key[0], name)
        return text + line[end:]

    def bind(self, kind: str, name: str) -> None:
        """Put a variable in reach."""
        names = self.reach.setdefault(kind, [])
        if name not in names:
            names.append(name)

    def _hole(
        self, hole: re.Match[str], chosen: dict[str, str], made: dict[str, str], depth: int
    ) -> str:
        new, kind, index, optional = hole.groups()
        if kind.islower():
            return "" if optional and self.chance.random() < 0.6 else self.expand(kind, depth)
        key = kind + index
        if new:
            self._count += 1
            made[key] = f"{kind.lower()}{self._count}"
            return made[key]
        if index and key not in chosen:
            chosen[key] = self._pick(kind)
        return chosen.get(key) or self._pick(kind)

    def _pick(self, kind: str) -> str:
        if kind == _WRITTEN:
            filled = [one for one in (*_TENSORS, HERO) if self.reach.get(one)]
            parts = self.reach.get("P")
            return self._pick(
                "P" if parts and self.chance.random() < 0.6 else self.chance.choice(filled)
            )
        names = self.reach.get(kind)
        if not names:
            return self.expand(f"any_{kind.lower()}", _DEEPEST)
        return names[-1] if self.chance.random() < 0.5 else self.chance.choice(names)
