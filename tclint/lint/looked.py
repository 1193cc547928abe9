"""What a run looked at: compiled regions, the functions that they reach, the loops that train."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.diagnostics import ChainLink
from tclint.records import record
from tclint.semantics.events import Event, TrainingCall

if TYPE_CHECKING:
    from tclint.semantics.interpreter.analysis import Analysis
    from tclint.semantics.symbols import FunctionInfo

Places = tuple[ChainLink, ...]
Rows = tuple[tuple[str, tuple[int, ...]], ...]
"""Rows of files, by their names."""


@record(frozen=True)
class RegionSeen:
    """A function that is compiled.

    ``places`` are where the program compiles it: none where the configuration says that somebody
    does. ``reached`` are the functions of the checked files that it leads to, itself the first, and
    ``loops`` those that call it.
    """

    root: ChainLink
    places: Places = ()
    reached: Places = ()
    loops: Places = ()


@record(frozen=True)
class Looked:
    """What was looked at.

    ``assumed`` are functions that were checked as if they were compiled, ``unseen`` the calls that
    compile what the files do not hold. ``functions`` are those that all of these reach, ``loops``
    those that train. ``patterns`` are those of the configuration that name something.
    """

    regions: tuple[RegionSeen, ...] = ()
    assumed: Places = ()
    unseen: Places = ()
    functions: Rows = ()
    loops: Rows = ()
    patterns: tuple[str, ...] = ()

    @property
    def function_count(self) -> int:
        """How many functions were checked as compiled code."""
        return sum(len(rows) for _, rows in self.functions)

    @property
    def loop_count(self) -> int:
        """How many loops train."""
        return sum(len(rows) for _, rows in self.loops)


NOTHING = Looked()


def looked_at(analysis: Analysis, events: Iterable[Event], checked: Collection[Path]) -> Looked:
    """What an analysis that is done has looked at in the checked files."""
    return _Survey(analysis, checked).looked(events)


def together(all_looked: Iterable[Looked]) -> Looked:
    """What several analyses have looked at, each thing once."""
    every = [*all_looked]
    if len(every) == 1:
        return every[0]
    regions: dict[ChainLink, list[RegionSeen]] = defaultdict(list)
    for region in (region for one in every for region in one.regions):
        regions[region.root].append(region)
    known = {place for seen in regions.values() for region in seen for place in region.places}
    return Looked(
        tuple(_as_one(root, seen) for root, seen in regions.items()),
        tuple(link for link in _each(one.assumed for one in every) if link not in regions),
        tuple(place for place in _each(one.unseen for one in every) if place not in known),
        _by_file((name, row) for one in every for name, rows in one.functions for row in rows),
        _by_file((name, row) for one in every for name, rows in one.loops for row in rows),
        tuple(dict.fromkeys(pattern for one in every for pattern in one.patterns)),
    )


def _as_one(root: ChainLink, seen: Sequence[RegionSeen]) -> RegionSeen:
    return RegionSeen(
        root,
        _each(region.places for region in seen),
        _each(region.reached for region in seen),
        _each(region.loops for region in seen),
    )


def _each(parts: Iterable[Places]) -> Places:
    return tuple(dict.fromkeys(link for part in parts for link in part))


def _by_file(rows: Iterable[tuple[str, int]]) -> Rows:
    files: dict[str, set[int]] = defaultdict(set)
    for name, row in rows:
        files[name].add(row)
    return tuple((name, tuple(sorted(found))) for name, found in sorted(files.items()))


class _Survey:
    """Reads the map from one analysis: it knows who calls whom, and so what a root reaches."""

    def __init__(self, analysis: Analysis, checked: Collection[Path]) -> None:
        self._seen = analysis.seen
        self._walked = {one for one in analysis.functions() if one.module.file.path in checked}
        self._compiled_at: dict[FunctionInfo, list[ChainLink]] = defaultdict(list)
        for place, compiled in analysis.seen.compiles.items():
            for info in compiled:
                self._compiled_at[info].append(place)
        self._called: dict[FunctionInfo, list[FunctionInfo]] = defaultdict(list)
        for called, callers in analysis.changes.callers.items():
            for caller in callers:
                self._called[caller].append(called)
        named = (root for roots in self._seen.configured.values() for root in roots)
        self._roots = dict.fromkeys(root.function.info for root in (*analysis.roots, *named))

    def looked(self, events: Iterable[Event]) -> Looked:
        """The whole map."""
        assumed = (root.function.info for root in self._seen.assumed)
        training = _innermost(event for event in events if isinstance(event, TrainingCall))
        return Looked(
            tuple(map(self._region, self._roots)),
            _each((_link(info),) for info in assumed if info not in self._roots),
            tuple(place for place, compiled in self._seen.compiles.items() if not compiled),
            _by_file((str(info.module.file.path), info.node.lineno) for info in self._walked),
            _by_file(training),
            tuple(self._seen.configured),
        )

    def _region(self, info: FunctionInfo) -> RegionSeen:
        places = self._compiled_at.get(info, ())
        reached = map(_link, self._reached(info))
        loops = self._seen.looped.get(info, {})
        return RegionSeen(_link(info), tuple(places), tuple(reached), tuple(loops))

    def _reached(self, root: FunctionInfo) -> list[FunctionInfo]:
        """The functions that a root leads to, in the order in which they are met."""
        met, pending = dict.fromkeys([root]), [root]
        while pending:
            for called in self._called[pending.pop()]:
                if called in self._walked and called not in met:
                    met[called] = None
                    pending.append(called)
        return [*met]


def _innermost(calls: Iterable[TrainingCall]) -> Iterator[tuple[str, int]]:
    """The loops that train, without those around them: an epoch is many steps."""
    files: dict[str, dict[int, int]] = defaultdict(dict)
    for call in calls:
        rows = files[str(call.site.module.file.path)]
        rows[call.loop.lineno] = call.loop.end_lineno or call.loop.lineno
    for name, rows in files.items():
        for first, last in rows.items():
            if not any(first < other <= last for other in rows):
                yield name, first


def _link(info: FunctionInfo) -> ChainLink:
    return ChainLink(info.qualname, str(info.module.file.path), info.node.lineno)
