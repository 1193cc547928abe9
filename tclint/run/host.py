"""Where the host's time in a step goes: known lines, the model's own work, and what is beside it.

Forward, backward and the optimizer's step are what training is: how long they take is told, but it
is no line to change. Whatever else the host does in a step is work of a line of the user's, whether
or not a rule knows it.
"""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from enum import Enum
from functools import cached_property
from pathlib import Path

from tclint.files import read_bytes
from tclint.records import record
from tclint.run.events import libraries_of
from tclint.run.recorded import Place, Recorded, Samples
from tclint.verify.break_text import Libraries

Key = tuple[str, int]
"""A line: its file and its row."""
LINE = "line"
_MOST = 2 / 3
"""A line that calls another with this share of its time has that one named instead."""


class Part(str, Enum):
    """What training itself is made of."""

    FORWARD = "forward"
    BACKWARD = "backward"
    OPTIMIZER = "optimizer"


@record(frozen=True)
class Beside:
    """A line that works on the host: how many samples, and where most of them end in a library."""

    hits: int
    inside: str = ""


@record(frozen=True)
class Work:
    """Samples of the host's time: of ``total``, those at known lines, of the model, and beside it.

    ``parts`` are by the line of the loop from which the model's work is called. No sample counts
    twice. ``stacks`` says of each what it is: a part, or ``line`` with that line.
    """

    total: int = 0
    known: Mapping[Key, int] = field(default_factory=dict)
    parts: Mapping[Part, Mapping[Key, int]] = field(default_factory=dict)
    beside: Mapping[Key, Beside] = field(default_factory=dict)
    stacks: Mapping[tuple[Place, ...], tuple[str, Key | None]] = field(default_factory=dict)

    def part(self, part: Part) -> int:
        """The samples of one part of the model's work."""
        return sum(self.parts.get(part, {}).values())


def work_of(one: Recorded, rows: Mapping[Key, Key], waiting: frozenset[Key] = frozenset()) -> Work:
    """Divide the samples of a process; ``rows`` says which known line each row belongs to.

    What a ``waiting`` line calls of the user's own works for itself: that it waits as well, to copy
    a batch that a function made, is another matter.
    """
    division = _Division(one, rows, waiting)
    for samples in one.samples:
        division.take(samples)
    return division.done()


def stack_part(stack: Sequence[Place], libraries: Libraries) -> Part | None:
    """Which part of the model's own work a stack is in."""
    graph = libraries.within_torch("autograd/graph.py")
    if any(p.filename.startswith(graph) and p.function == "_engine_run_backward" for p in stack):
        return Part.BACKWARD
    module = _last(stack, libraries.within_torch("nn/modules/module.py"))
    schedule = libraries.within_torch("optim/lr_scheduler.py", "optim/swa_utils.py")
    optimizer = _last(stack, libraries.within_torch("optim"), schedule)
    if optimizer > module:
        # An optimizer of the user's own is a line that can be changed, unless it is compiled.
        own = any(not libraries.holds(place.filename) for place in stack[optimizer:])
        return None if own and not in_graph(stack, libraries) else Part.OPTIMIZER
    compiled = _last(stack, libraries.within_torch("_dynamo/eval_frame.py"))
    return Part.FORWARD if max(module, compiled) >= 0 else None


def _last(stack: Sequence[Place], within: tuple[str, ...], without: tuple[str, ...] = ()) -> int:
    """Where a stack is in some files for the last time; -1 where it is not."""
    found = (
        at
        for at, place in enumerate(stack)
        if place.filename.startswith(within)
        and not (without and place.filename.startswith(without))
    )
    return max(found, default=-1)


def in_graph(stack: Sequence[Place], libraries: Libraries) -> bool:
    """Whether the innermost user's frame runs a compiled graph: its row says nothing then."""
    runs = libraries.within_torch("_functorch/_aot_autograd", "_inductor", "fx/graph_module.py")
    inner = itertools.takewhile(lambda place: libraries.holds(place.filename), reversed(stack))
    return any(place.filename.startswith(runs) for place in inner)


def known_line(stack: Sequence[Place], rows: Mapping[Key, Key]) -> Key | None:
    """The innermost of the known lines that a stack is in."""
    places = ((place.filename, place.row) for place in reversed(stack))
    return next((rows[place] for place in places if place in rows), None)


def _line_of(place: Place, rows: Mapping[Key, Key]) -> Key | None:
    """The known line that a place is in."""
    return rows.get((place.filename, place.row))


class _Division:
    """Counts samples, stack by stack."""

    def __init__(self, one: Recorded, rows: Mapping[Key, Key], waiting: frozenset[Key]) -> None:
        self._rows = rows
        self._waiting = waiting
        self._libraries = libraries_of(one.process)
        self._loop = one.steps.place if one.steps is not None else None
        self._total = 0
        self._known: Counter[Key] = Counter()
        self._parts: dict[Part, Counter[Key]] = {part: Counter() for part in Part}
        self._model_rows: set[Key] = set()
        self._left: list[tuple[tuple[Place, ...], int]] = []
        self._stacks: dict[tuple[Place, ...], tuple[str, Key | None]] = {}
        self._files: dict[str, _File] = {}

    def take(self, samples: Samples) -> None:
        """Count what some samples saw."""
        hits = Counter(number for _, number in samples.hits)
        for number, count in hits.items():
            stack = samples.stacks[number]
            self._total += count
            part = stack_part(stack, self._libraries)
            own = self._own(stack)
            if part is not None:
                self._model_rows |= {(place.filename, place.row) for place in stack}
            graph = in_graph(stack, self._libraries)
            owner = None if graph and part is not None else known_line(stack, self._rows)
            if owner in self._waiting and own and _line_of(own[-1], self._rows) != owner:
                owner = None
            if owner is not None:
                self._known[owner] += count
                self._stacks[stack] = LINE, owner
            elif part is not None:
                line = self._line(own[0]) if own else ("?", 0)
                self._parts[part][line] += count
                self._stacks[stack] = part.value, line
            elif own:
                self._left.append((stack, count))

    def done(self) -> Work:
        """What it comes to."""
        root = _Node(("", 0))
        for stack, count in self._left:
            at = root
            for place in self._own(stack):
                at = at.below(self._line(place), count)
            at.ends[self._end(stack)] += count
        beside: dict[Key, Beside] = {}
        for child in root.children.values():
            for key, mine, ends in child.settled():
                known = beside.get(key, Beside(0))
                beside[key] = Beside(known.hits + mine, known.inside or _most(ends, mine))
        parts = {part: dict(found) for part, found in self._parts.items() if found}
        for stack, _ in self._left:
            path = [self._line(place) for place in self._own(stack)]
            self._stacks[stack] = LINE, next((key for key in reversed(path) if key in beside), None)
        return Work(self._total, dict(self._known), parts, beside, self._stacks)

    def _own(self, stack: Sequence[Place]) -> list[Place]:
        """The user's frames of a stack, from the loop's on."""
        own = [place for place in stack if not self._libraries.holds(place.filename)]
        loop = self._loop
        for at, place in enumerate(own):
            same = loop is not None and place.filename == loop.filename
            if same and loop is not None and place.function == loop.function:
                return own[at:]
        return own

    def _end(self, stack: Sequence[Place]) -> tuple[str, ...]:
        """The library's functions that the user's innermost line is in, the outer ones first."""
        foreign = itertools.takewhile(
            lambda place: self._libraries.holds(place.filename), reversed(stack)
        )
        return tuple(f"{_named(one.filename)} {one.function}" for one in foreign)[::-1]

    def _line(self, place: Place) -> Key:
        """The statement that a row is in, or the loop in which no model runs."""
        file = self._files.get(place.filename)
        if file is None:
            file = self._files[place.filename] = _File(Path(place.filename))
        for loop in file.loops:
            model = any(
                name == place.filename and row in loop and row != loop.start
                for name, row in self._model_rows
            )
            if place.row in loop and not model and not self._is_of_steps(place.filename, loop):
                return place.filename, loop.start
        return place.filename, file.statements.get(place.row, place.row)

    def _is_of_steps(self, filename: str, loop: range) -> bool:
        steps = self._loop
        return steps is not None and steps.filename == filename and steps.row in loop


class _Node:
    """A line that was called in some way, and the lines that it calls."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self.hits = 0
        self.children: dict[Key, _Node] = {}
        self.ends: Counter[tuple[str, ...]] = Counter()

    def below(self, key: Key, hits: int) -> _Node:
        """The node of a line that this one calls, with so many samples more."""
        if key == self.key:
            return self
        child = self.children.setdefault(key, _Node(key))
        child.hits += hits
        return child

    def settled(self) -> Iterator[tuple[Key, int, Counter[tuple[str, ...]]]]:
        """The lines that have the samples: each one's own, and those of what it calls little."""
        mine, ends = self.hits, Counter(self.ends)
        for child in self.children.values():
            if child.hits >= _MOST * self.hits:
                mine -= child.hits
                yield from child.settled()
            else:
                ends += child.all_ends()
        if mine:
            yield self.key, mine, ends

    def all_ends(self) -> Counter[tuple[str, ...]]:
        """Where the samples of a line end, and of all that it calls."""
        whole = Counter(self.ends)
        for child in self.children.values():
            whole += child.all_ends()
        return whole


class _File:
    """The statements and loops of a file, by rows."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _tree(self) -> ast.Module:
        try:
            return ast.parse(read_bytes(self._path))
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.Module([], [])

    @cached_property
    def statements(self) -> Mapping[int, int]:
        """The first row of the statement that each row is in."""
        first: dict[int, int] = {}
        for node in ast.walk(self._tree):
            if isinstance(node, ast.stmt):
                body: list[ast.stmt] = getattr(node, "body", [])
                last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
                for row in range(node.lineno, max(last, node.lineno) + 1):
                    first[row] = min(first.get(row, node.lineno), node.lineno)
        return first

    @cached_property
    def loops(self) -> tuple[range, ...]:
        """The rows of each loop, the outer ones first."""
        found = [
            range(node.lineno, (node.end_lineno or node.lineno) + 1)
            for node in ast.walk(self._tree)
            if isinstance(node, ast.For | ast.While)
        ]
        return tuple(sorted(found, key=lambda rows: (-len(rows), rows.start)))


def _most(ends: Counter[tuple[str, ...]], hits: int) -> str:
    """The innermost of a library's functions that has most of a line's samples."""
    path: tuple[str, ...] = ()
    while True:
        longer: Counter[tuple[str, ...]] = Counter()
        for end, count in ends.items():
            if end[: len(path)] == path and len(end) > len(path):
                longer[end[: len(path) + 1]] += count
        best, count = next(iter(longer.most_common(1)), ((), 0))
        if 2 * count <= hits:
            return path[-1] if path else ""
        path = best


def _named(filename: str) -> str:
    """A library's module, as one imports it."""
    path = Path(filename)
    parts = path.with_suffix("").parts
    for folder in ("site-packages", "dist-packages"):
        if folder in parts:
            parts = parts[parts.index(folder) + 1 :]
            break
    else:
        parts = parts[-1:]
    return ".".join(parts).removesuffix(".__init__")
