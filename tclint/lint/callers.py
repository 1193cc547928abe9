"""The files of a project that call into some of its files: found backwards along imports.

A definition is reached when it mentions a name that leads to the named files; whoever imports it
is looked at next. What matters to the named files is walked then: files that compile something, or
modules whose ``forward`` comes to them.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from pathlib import Path
from typing import Final, NamedTuple

from tclint.lint.execution import Caller
from tclint.lint.outlines import MODULE, STAR, Import, Outline, Part, Use
from tclint.records import record
from tclint.regexes import regex
from tclint.semantics.project import Project
from tclint.semantics.setup_words import may_compile, may_train

MAX_SEARCHED: Final = 2_000_000
"""Characters of files that rest on the named ones which are looked into."""
PARSING: Final = 4
"""How much less a character costs that is only parsed."""


@record(frozen=True)
class Found:
    """The callers that are to be walked, and how many more there are."""

    files: tuple[Caller, ...] = ()
    left_out: int = 0


class Rank(IntEnum):
    """Why a file is walked, what matters most first."""

    COMPILES = 0
    HAS_FORWARD = 1
    HAS_BASES = 2
    TRAINS = 3


_CLASS: Final = regex(r"^class[ \t]+\w+[^(:]*(?:\(([^)]*))?", re.M)


class _Candidate(NamedTuple):
    """What callers are ordered by: tests and what only trains come last, else the nearest first."""

    aside: bool
    trains: bool
    distance: int
    rank: Rank
    path: Path


class Callers:
    """The imports of a project, turned round."""

    def __init__(
        self,
        project: Project,
        imports: Iterable[tuple[Path, Iterable[Import]]],
        read: Callable[[Path], str],
        is_aside: Callable[[Path], bool] = lambda path: False,
    ) -> None:
        """``read`` gives the text of a file, an empty one where it cannot be read.

        ``is_aside`` tells files that are looked into last: tests import all of a project.
        """
        self._project, self._read, self._is_aside = project, read, is_aside
        self._outlines: dict[Path, Outline] = {}
        self._by_source: dict[str, list[tuple[Path, Import]]] = {}
        for path, rows in imports:
            for row in rows:
                source = row.source
                if source[0] == ".":
                    source = _absolute(project.names[path], source, path.stem == "__init__")
                self._by_source.setdefault(source, []).append((path, row))

    def of(self, named: Iterable[Path], most: int, *, every: bool = False) -> Found:
        """The files to walk with the named ones, up to so many characters of definitions.

        With ``every`` any function may be where compiled code starts.
        """
        distances = dict.fromkeys(named, 0)
        reached: dict[Path, dict[str, Part | None]] = {}
        waiting: dict[Path, set[str] | None] = dict.fromkeys(distances)
        aside: deque[tuple[Path, Path, set[Use]]] = deque()
        callers: dict[Path, _Candidate] = {}
        unsearched: set[Path] = set()
        left = MAX_SEARCHED
        while (waiting or aside) and left > 0:
            for path, caller, uses in self._next(waiting, aside):
                if distances.setdefault(caller, distances[path] + 1) == 0:
                    continue
                if left <= 0:
                    unsearched.add(caller)
                    continue
                outline, known = self._outline(caller), reached.setdefault(caller, {})
                left -= 0 if known else len(outline.text)
                parts = outline.reached(uses)
                names = dict.fromkeys(use.name for use in uses if use.behind is None)
                fresh = (names.keys() | parts.keys()) - known.keys()
                if not fresh:
                    continue
                known.update({**names, **parts})
                waiting[caller] = fresh | (waiting.get(caller) or set())
                rank = self._rank(caller, parts.values(), every=every)
                if rank is not None:
                    late, trains = self._is_aside(caller), rank is Rank.TRAINS
                    one = _Candidate(late, trains, distances[caller], rank, caller)
                    callers[caller] = min(one, callers.get(caller, one))
        unsearched.update(waiting, (caller for _, caller, _ in aside))
        taken, left_out = [], len(unsearched)
        for path in (one.path for one in sorted(callers.values())):
            cost = self._cost(path, reached[path].values())
            if cost > most:
                left_out += 1
                continue
            most -= cost
            taken.append(Caller(path, frozenset(reached[path])))
        return Found(tuple(taken), left_out)

    def _next(
        self,
        waiting: dict[Path, set[str] | None],
        aside: deque[tuple[Path, Path, set[Use]]],
    ) -> list[tuple[Path, Path, set[Use]]]:
        """Who imports the nearest file that waits, and how; tests only after all others."""
        if not waiting:
            return [aside.popleft()]
        path = next(iter(waiting))
        found = [(path, *one) for one in self._importers(path, waiting.pop(path))]
        aside.extend(one for one in found if self._is_aside(one[1]))
        return [one for one in found if not self._is_aside(one[1])]

    def _cost(self, path: Path, parts: Iterable[Part | None]) -> int:
        """What it takes to walk some definitions: the whole file is parsed for them."""
        walked = sum(part.end - part.start for part in {*parts} if part is not None)
        return walked + len(self._outline(path).text) // PARSING

    def _rank(self, path: Path, parts: Iterable[Part], *, every: bool) -> Rank | None:
        """How much a caller matters; None where nothing is compiled."""
        text = self._outline(path).text
        if may_compile(text):
            return Rank.COMPILES
        found = (rank for part in parts if (rank := _rank_of(text, part)) is not None)
        rank = min(found, default=Rank.HAS_BASES if every else None)
        return Rank.TRAINS if rank is None and may_train(text) else rank

    def _outline(self, path: Path) -> Outline:
        if path not in self._outlines:
            self._outlines[path] = Outline(self._read(path))
        return self._outlines[path]

    def _importers(self, path: Path, wanted: set[str] | None) -> Iterator[tuple[Path, set[Use]]]:
        """The files that import some names of a file, or any, and how they refer to them."""
        found: dict[Path, set[Use]] = {}
        own = self._project.names[path]
        for key in _keys(self._project, path):
            for importer, row in self._by_source.get(key, ()):
                uses = self._taken(row, path, wanted)
                if uses and self._leads(importer, key, path):
                    found.setdefault(importer, set()).update(uses)
            above, _, last = key.rpartition(".")
            for importer, row in self._by_source.get(above, ()):
                uses = {_inside(local, wanted) for name, local in row.names if name == last}
                if uses and self._leads(importer, key, path):
                    found.setdefault(importer, set()).update(uses)
        package, _, last = own.rpartition(".")
        while package:  # `import package` leads to its modules as well
            for importer, row in self._by_source.get(package, ()):
                whole = {local for name, local in row.names if name == MODULE}
                behind = frozenset((last,) if wanted is None else wanted)
                found.setdefault(importer, set()).update(Use(name, behind) for name in whole)
            package = package.rpartition(".")[0]
        return ((importer, uses) for importer, uses in found.items() if uses and importer != path)

    def _leads(self, importer: Path, name: str, path: Path) -> bool:
        return self._project.find(self._project.folder_of(importer), name) == path

    def _taken(self, row: Import, path: Path, wanted: set[str] | None) -> set[Use]:
        """How an importer refers to what it takes from a file."""
        found: set[Use] = set()
        for name, local in row.names:
            if name == STAR:
                names = self._outline(path).names if wanted is None else wanted
                found.update(map(Use, names))
            elif name == MODULE and wanted is None and "." in row.source:
                is_alias = local != row.source.partition(".")[0]
                found.add(Use(local, None if is_alias else frozenset((_last(row.source),))))
            elif name == MODULE:
                found.add(_inside(local, wanted))
            elif wanted is None or name in wanted:
                found.add(Use(local))
        return found


def _inside(module: str, wanted: set[str] | None) -> Use:
    """How one refers to names of a module, or to any."""
    return Use(module, None if wanted is None else frozenset(wanted))


def _last(dotted: str) -> str:
    return dotted.rpartition(".")[2]


def _absolute(module: str, source: str, is_package: bool) -> str:
    """The dotted name that a relative one stands for in a module."""
    name = source.lstrip(".")
    up = len(source) - len(name) - is_package
    package = module.split(".")[: -up or None]
    return ".".join([*package, *([name] if name else [])])


def _keys(project: Project, path: Path) -> list[str]:
    """The dotted names under which a file may be imported, by its place and by its packages."""
    parts = [*Path(project.folder_of(path)).parts[1:]]
    if path.stem != "__init__":
        parts.append(path.stem)
    names = {".".join(parts[-n:]) for n in range(1, len(parts) + 1)}
    return sorted({*names, project.names[path]})


def _rank_of(text: str, part: Part) -> Rank | None:
    """How much a definition matters: a class may be a module."""
    head = _CLASS.search(text, part.start, part.end)
    if head is None:
        return None
    if text.find("def forward", head.end(), part.end) >= 0:
        return Rank.HAS_FORWARD
    return Rank.HAS_BASES if (head[1] or "").strip() else None
