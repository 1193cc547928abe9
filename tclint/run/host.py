"""Where the host's time in a step goes: known lines, the model's own work, and what is beside it.

Forward, backward and the optimizer's step are what training is: how long they take is told, but it
is no line to change. Whatever else the host does in a step is work of a line of the user's, whether
or not a rule knows it.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from enum import Enum
from pathlib import Path

from tclint.records import record
from tclint.run.events import libraries_of
from tclint.run.intervals import NOTHING, Interval, of_share
from tclint.run.own_code import OwnFile, own_file
from tclint.run.recorded import Place, Recorded
from tclint.run.sampled import Sampled, Stack, sampled
from tclint.verify.break_text import Libraries

Key = tuple[str, int]
"""A line: its file and its row."""
LINE, LOADING, TRANSFER = "line", "loading", "transfer"
WAITING, COLLATE = "waiting for the loader's workers", "collate"
PINNING, READING = "pinning memory", "reading samples"
"""What a loader does."""
_TRAINS = frozenset({"optimizer.step", "backward"})
_WAITS = frozenset(
    {"_try_get_data", "_recv", "_recv_bytes", "recv_bytes", "poll", "wait", "select"}
)
_BACKWARD = frozenset({"_engine_run_backward", "backward", "grad"})
_CALLS = frozenset({"__call__", "_call_impl", "_wrapped_call_impl"})
"""What runs a module; its other methods, such as ``zero_grad``, are no forward pass."""
_ELSEWHERE = Place("", 0, "")
_ROUNDED = 1e-9
_MOST = 2 / 3
"""A line that calls another with this share of its time has that one named instead."""


class Part(str, Enum):
    """What training itself is made of."""

    FORWARD = "forward"
    BACKWARD = "backward"
    OPTIMIZER = "optimizer"


@record(frozen=True)
class Beside:
    """A line that works on the host: milliseconds, and where most of it ends in a library."""

    ms: float
    inside: str = ""


@record(frozen=True)
class LoopLine:
    """What a stack is of, a part or ``loading``, ``transfer``, ``line``, and its path to there.

    The ``path`` are the user's statements, the loop's own first; ``detail`` says what a loader
    does. ``without_gradients``: a model runs there, and nothing learns from it.
    """

    kind: str
    path: tuple[Key, ...] = ()
    detail: str = ""
    without_gradients: bool = False


@record(frozen=True)
class Work:
    """The host's time in a mean step, in milliseconds: known lines, the model, and beside it.

    ``parts`` are by the line of the loop from which the model's work is called. No time counts
    twice. ``stacks`` says of each what it is: a part, or ``line`` with that line.
    """

    seen: Sampled = Sampled()
    known: Mapping[Key, float] = field(default_factory=dict)
    parts: Mapping[Part, Mapping[Key, float]] = field(default_factory=dict)
    beside: Mapping[Key, Beside] = field(default_factory=dict)
    stacks: Mapping[Stack, tuple[str, Key | None]] = field(default_factory=dict)
    lines: Mapping[Stack, LoopLine] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """Milliseconds of a mean step that samples tell of."""
        return sum(self.seen.stacks.values())

    def part(self, part: Part) -> float:
        """The milliseconds of one part of the model's work."""
        return sum(self.parts.get(part, {}).values())

    @property
    def loading(self) -> float:
        """The milliseconds of loading batches."""
        stacks = (stack for stack, line in self.lines.items() if line.kind == LOADING)
        return sum(self.seen.stacks[stack] for stack in stacks)

    def of(self, ms: float) -> Interval:
        """Milliseconds with what they may be off by, as so few samples tell of them."""
        seen = self.seen
        return of_share(ms, seen.mean, seen.looks) * seen.mean if ms else NOTHING


def work_of(
    one: Recorded,
    rows: Mapping[Key, Key],
    waiting: frozenset[Key] = frozenset(),
    *,
    loads: bool = False,
) -> Work:
    """Divide the samples of a process; ``rows`` says which known line each row belongs to.

    What a ``waiting`` line calls of the user's own works for itself: that it waits as well, to copy
    a batch that a function made, is another matter. With ``loads`` some finding is about loading:
    then that is no line's.
    """
    return _Division(one, rows, waiting, loads=loads).done(sampled(one))


def stack_part(stack: Sequence[Place], libraries: Libraries) -> Part | None:
    """Which part of the model's own work a stack is in."""
    engine = libraries.within_torch("autograd/graph.py", "autograd/__init__.py", "_tensor.py")
    if any(p.function in _BACKWARD and p.filename.startswith(engine) for p in stack):
        return Part.BACKWARD
    modules = libraries.within_torch("nn/modules/module.py")
    called = (place if place.function in _CALLS else _ELSEWHERE for place in stack)
    module = _last([*called], modules)
    schedule = libraries.within_torch("optim/lr_scheduler.py", "optim/swa_utils.py")
    optimizer = _last(stack, libraries.within_torch("optim"), schedule)
    if optimizer > module:
        # An optimizer of the user's own is a line that can be changed, unless it is compiled.
        own = any(not libraries.holds(place.filename) for place in stack[optimizer:])
        return None if own and not in_graph(stack, libraries) else Part.OPTIMIZER
    compiled = any(_enters_compiled(stack, at, libraries) for at in range(len(stack)))
    return Part.FORWARD if module >= 0 or compiled else None


def _enters_compiled(stack: Sequence[Place], at: int, libraries: Libraries) -> bool:
    """Whether a frame is Dynamo's that runs what is compiled.

    The same function of Dynamo's calls what torch itself never compiles, such as the methods of an
    optimizer: ``torch/_compile.py`` asks for that.
    """
    if not stack[at].filename.startswith(libraries.within_torch("_dynamo/eval_frame.py")):
        return False
    return not (at and stack[at - 1].filename.startswith(libraries.within_torch("_compile.py")))


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
    """Adds up samples, stack by stack."""

    def __init__(
        self, one: Recorded, rows: Mapping[Key, Key], waiting: frozenset[Key], *, loads: bool
    ) -> None:
        self._recorded = one
        self._rows = rows
        self._loads = loads
        self._waiting = waiting
        self._libraries = libraries_of(one.process)
        self._loop = one.steps.place if one.steps is not None else None
        self._trains = one.steps is not None and one.steps.marker in _TRAINS
        self._known: Counter[Key] = Counter()
        self._parts: dict[Part, Counter[Key]] = {part: Counter() for part in Part}
        self._model_rows: set[Key] = set()
        self._left: list[tuple[Stack, float]] = []
        self._stacks: dict[Stack, tuple[str, Key | None]] = {}
        self._files: dict[str, OwnFile] = {}
        self._callers: Sequence[Key] = ()

    def done(self, seen: Sampled) -> Work:
        """What the samples come to."""
        self._callers = self._of_callers(seen)
        parts = {stack: self._part(stack) for stack in seen.stacks}
        for stack, part in parts.items():
            if part is not None:
                self._model_rows |= {(place.filename, place.row) for place in stack}
        for stack, ms in seen.stacks.items():
            self._take(stack, ms, parts[stack])
        beside = self._beside()
        counted = {part: dict(found) for part, found in self._parts.items() if found}
        lines = {stack: self._loop_line(stack, part) for stack, part in parts.items()}
        return Work(seen, dict(self._known), counted, beside, self._stacks, lines)

    def _part(self, stack: Stack) -> Part | None:
        """The part of the training that a stack is in; running a model only to see is none."""
        part = stack_part(stack, self._libraries)
        if part is Part.FORWARD and self._trains:
            before = [p for p in self._outside(stack) if not self._libraries.holds(p.filename)]
            if any(p.row in self._file(p.filename).without_gradients for p in before):
                return None
        return part

    def _take(self, stack: Stack, ms: float, part: Part | None) -> None:
        own = self._own(stack)
        graph = in_graph(stack, self._libraries)
        owner = None if graph and part is not None else known_line(stack, self._rows)
        if owner in self._waiting and own and _line_of(own[-1], self._rows) != owner:
            owner = None
        if owner is not None:
            self._known[owner] += ms  # type: ignore[assignment]
            self._stacks[stack] = LINE, owner
        elif part is not None:
            line = self._line(own[0]) if own else ("?", 0)
            self._parts[part][line] += ms  # type: ignore[assignment]
            self._stacks[stack] = part.value, line
        elif self._loads and self._in_loader(stack):
            self._stacks[stack] = LOADING, None
        elif own:
            self._left.append((stack, ms))

    def _beside(self) -> dict[Key, Beside]:
        root = _Node(("", 0))
        paths = {stack: [self._line(p) for p in self._path(stack)] for stack, _ in self._left}
        for stack, ms in self._left:
            at = root
            for key in paths[stack]:
                at = at.below(key, ms)
            at.ends[self._end(stack)] += ms  # type: ignore[assignment]
        beside: dict[Key, Beside] = {}
        for child in root.children.values():
            for key, mine, ends in child.settled():
                known = beside.get(key, Beside(0))
                beside[key] = Beside(known.ms + mine, known.inside or _most(ends, mine))
        for stack, path in paths.items():
            self._stacks[stack] = LINE, next((key for key in reversed(path) if key in beside), None)
        return beside

    def _loop_line(self, stack: Stack, part: Part | None) -> LoopLine:
        """What a stack is of, and through which of the user's lines, from the loop's on."""
        path = tuple(dict.fromkeys(self._line(place) for place in self._path(stack)))
        if part is not None:
            return LoopLine(part.value, path)
        if self._in_loader(stack):
            return LoopLine(LOADING, path, _loading(stack))
        ends_there = bool(stack) and not self._libraries.holds(stack[-1].filename)
        if ends_there and path and path[-1][1] in self._file(path[-1][0]).moves:
            return LoopLine(TRANSFER, path)
        model = stack_part(stack, self._libraries) is not None
        return LoopLine(LINE, path, without_gradients=model)

    def _in_loader(self, stack: Stack) -> bool:
        return _last(stack, self._libraries.within_torch("utils/data")) >= 0

    def _outside(self, stack: Stack) -> Stack:
        """A stack as far as the first model that is called in it."""
        modules = self._libraries.within_torch("nn/modules/module.py")
        calls = (
            at
            for at, place in enumerate(stack)
            if place.filename.startswith(modules) or _enters_compiled(stack, at, self._libraries)
        )
        return stack[: next(calls, len(stack))]

    def _path(self, stack: Stack) -> list[Place]:
        """The user's frames from the loop's on, without those of the model's own code."""
        outside = len(self._outside(stack))
        if stack_part(stack, self._libraries) is None:
            return self._own(stack)
        own = self._own(stack)
        inner = sum(not self._libraries.holds(place.filename) for place in stack[outside:])
        return own[: len(own) - inner] or own[:1]

    def _file(self, name: str) -> OwnFile:
        if name not in self._files:
            self._files[name] = own_file(self._recorded, name)
        return self._files[name]

    def _own(self, stack: Sequence[Place]) -> list[Place]:
        """The user's frames of a stack, from the loop's on.

        The loop may call the function that makes its steps: beside that it does other things.
        """
        own = [place for place in stack if not self._libraries.holds(place.filename)]
        first = self._first_of_loop(own)
        if first is None:
            pairs = zip(own[:-1], self._callers, strict=False)
            same = itertools.takewhile(lambda two: (two[0].filename, two[0].row) == two[1], pairs)
            first = len([*same])
        return own[first:]

    def _first_of_loop(self, own: Sequence[Place]) -> int | None:
        """Where the function is called that makes the steps."""
        loop = self._loop
        if loop is None:
            return None
        wanted = loop.filename, loop.function
        places = enumerate(own)
        return next((at for at, one in places if (one.filename, one.function) == wanted), None)

    def _of_callers(self, seen: Sampled) -> Sequence[Key]:
        """The lines through which the function that makes the steps is called, most often."""
        paths: Counter[tuple[Key, ...]] = Counter()
        for stack, ms in seen.stacks.items():
            own = [place for place in stack if not self._libraries.holds(place.filename)]
            before = own[: self._first_of_loop(own) or 0]
            if before:
                paths[tuple((one.filename, one.row) for one in before)] += ms  # type: ignore[assignment]
        return max(paths, key=lambda path: paths[path], default=())

    def _end(self, stack: Sequence[Place]) -> tuple[str, ...]:
        """The library's functions that the user's innermost line is in, the outer ones first."""
        inner = itertools.takewhile(
            lambda place: self._libraries.holds(place.filename), reversed(stack)
        )
        foreign = [*inner][::-1]
        data = self._libraries.within_torch("utils/data")
        loader = next((n for n, p in enumerate(foreign) if p.filename.startswith(data)), None)
        names = tuple(f"{_named(one.filename)} {one.function}" for one in foreign[:loader])
        return names if loader is None else (*names, f"{LOADING}, {_loading(stack)}")

    def _line(self, place: Place) -> Key:
        """The statement that a row is in, or the loop in which no model runs."""
        file = self._file(place.filename)
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
        self.ms = 0.0
        self.children: dict[Key, _Node] = {}
        self.ends: Counter[tuple[str, ...]] = Counter()

    def below(self, key: Key, ms: float) -> _Node:
        """The node of a line that this one calls, with so much time more."""
        if key == self.key:
            return self
        child = self.children.setdefault(key, _Node(key))
        child.ms += ms
        return child

    def settled(self) -> Iterator[tuple[Key, float, Counter[tuple[str, ...]]]]:
        """The lines that have the time: each one's own, and those of what it calls little."""
        mine, ends = self.ms, Counter(self.ends)
        for child in self.children.values():
            if child.ms >= _MOST * self.ms:
                mine -= child.ms
                yield from child.settled()
            else:
                ends += child.all_ends()
        if mine > _ROUNDED:
            yield self.key, mine, ends

    def all_ends(self) -> Counter[tuple[str, ...]]:
        """Where the time of a line ends, and of all that it calls."""
        whole = Counter(self.ends)
        for child in self.children.values():
            whole += child.all_ends()
        return whole


def _most(ends: Counter[tuple[str, ...]], ms: float) -> str:
    """The innermost of a library's functions that has most of a line's time."""
    path: tuple[str, ...] = ()
    while True:
        longer: Counter[tuple[str, ...]] = Counter()
        for end, count in ends.items():
            if end[: len(path)] == path and len(end) > len(path):
                longer[end[: len(path) + 1]] += count
        best, count = next(iter(longer.most_common(1)), ((), 0))
        if 2 * count <= ms:
            return path[-1] if path else ""
        path = best


def _loading(stack: Sequence[Place]) -> str:
    """What a loader does."""
    if any(place.function in _WAITS for place in stack):
        return WAITING
    if any(place.filename.endswith("collate.py") for place in stack):
        return COLLATE
    pins = any(place.filename.endswith("pin_memory.py") for place in stack)
    return PINNING if pins else READING


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
