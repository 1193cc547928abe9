"""A clock around each statement of a script: the truth that a report's samples are held against.

On a CPU alone: on a GPU a statement only starts the work.
"""

from __future__ import annotations

import ast
import json
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tclint.records import record

Place = tuple[str, int]
_CLOCK = "benchmark_clock"
_TABLE = "statements.json"
_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Delete)
_AS_DEAR = 0.9
_WAITS = (ast.Yield, ast.YieldFrom, ast.Await)


@record(frozen=True)
class Entry:
    """One run of a statement, in milliseconds of its own window; ``inside`` is another's index."""

    place: Place
    inside: int
    ms: float


class _Clocks(ast.NodeTransformer):
    """Starts and stops the clock at each statement."""

    def __init__(self, file: str, table: list[Place]) -> None:
        self._file = file
        self._table = table

    def _number(self, node: ast.stmt, *, whole: bool = False) -> int:
        """The number of a statement; a ``whole`` loop has the row of its head, below zero."""
        self._table.append((self._file, -node.lineno if whole else node.lineno))
        return len(self._table) - 1

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and not isinstance(node, ast.ClassDef):
                setattr(node, name, [self._timed(one) for one in body])
        return node

    def _timed(self, node: ast.stmt) -> ast.stmt:
        if any(isinstance(inner, _WAITS) for inner in ast.walk(node)):
            return node
        if isinstance(node, ast.For):
            each = ast.parse(f"{_CLOCK}.each({self._number(node)}, 0)", mode="eval").body
            assert isinstance(each, ast.Call)
            each.args[1] = node.iter
            node.iter = each
        elif isinstance(node, ast.If | ast.While) and not isinstance(node.test, ast.Constant):
            start = f"{_CLOCK}.start({self._number(node)})"
            of = ast.parse(f"{_CLOCK}.of({start}, 0)", mode="eval").body
            assert isinstance(of, ast.Call)
            of.args[1] = node.test
            node.test = of
        if isinstance(node, ast.For | ast.While):
            return _with_clock(node, self._number(node, whole=True))
        if not isinstance(node, _SIMPLE) or _is_text(node):
            return node
        return _with_clock(node, self._number(node))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _with_clock(node: ast.stmt, number: int) -> ast.stmt:
    name = f"_clock_{number}"
    told = f"{name} = {_CLOCK}.start({number})\ntry:\n    0\nfinally:\n    {_CLOCK}.stop({name})"
    start, tried = ast.parse(told).body
    assert isinstance(tried, ast.Try)
    tried.body = [node]
    always = ast.parse("if True:\n    0").body[0]
    assert isinstance(always, ast.If)
    always.body = [start, tried]
    return always


def put_clocks(folder: Path, files: Sequence[Path]) -> None:
    """Rewrite files in place, and write the table of their statements into a folder."""
    table: list[Place] = []
    for file in files:
        tree = ast.parse(file.read_text())
        _Clocks(str(file), table).visit(tree)
        tree.body.insert(_head(tree.body), ast.Import([ast.alias(_CLOCK)]))
        file.write_text(ast.unparse(ast.fix_missing_locations(tree)) + "\n")
    (folder / _TABLE).write_text(json.dumps(table))


def _head(body: Sequence[ast.stmt]) -> int:
    """Where the first import may stand: behind the module's text and what is of the future."""
    future = [
        at + 1
        for at, node in enumerate(body)
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
    ]
    return max(future, default=int(bool(body) and _is_text(body[0])))


def entries(folder: Path, begun: int, ended: int) -> tuple[list[Entry], frozenset[int]]:
    """What ran between two times, in nanoseconds, and which of it called a model that learns.

    Nothing where no clock was written.
    """
    table = [(file, row) for file, row in json.loads((folder / _TABLE).read_text())]
    written = sorted(folder.glob("*.clock"), key=lambda file: -file.stat().st_size)
    if not written:
        return [], frozenset()
    data = array("q")
    data.frombytes(written[0].read_bytes())
    found = []
    for at in range(0, len(data), 4):
        number, inside, start, stop = data[at : at + 4]
        taken = max(0, min(stop, ended) - max(start, begun)) / 1e6
        found.append(Entry(table[number], inside, taken))
    learning = json.loads(written[0].with_suffix(".learning").read_text())
    return found, frozenset(learning)


@record(frozen=True)
class Timed:
    """The truth about a loop: milliseconds of a step at each line, and what ran inside of which.

    A loop in which no model learns is one line, as it is to the report; ``learning`` are the
    entries that call a model, or its backward pass, and ``around`` those in which one ran.
    """

    steps: int
    step: float
    found: tuple[Entry, ...]
    learning: frozenset[int]
    around: frozenset[int]

    def lines(self, wanted: frozenset[Place], *, model: bool = True) -> Mapping[Place, float]:
        """What the lines take, less what others of them take that ran inside.

        Without ``model`` also less what a model takes there, and none that calls one itself: nobody
        knows how much of it that is.
        """
        spent: Counter[Place] = Counter()
        for at, one in enumerate(self.found):
            if one.ms and one.place in wanted:
                above = (self.found[up].place for up in self._above(at))
                outer = next((place for place in above if place in wanted), None)
                if outer != one.place:
                    spent[one.place] += one.ms  # type: ignore[assignment]
                    if outer is not None:
                        spent[outer] -= one.ms  # type: ignore[assignment]
        if model:
            return {place: ms / self.steps for place, ms in spent.items()}
        for at in self._models():
            around = (self.found[up].place for up in self._above(at))
            outer = next((place for place in around if place in wanted), None)
            if outer is not None:
                spent[outer] -= self.found[at].ms  # type: ignore[assignment]
        call = {self.found[at].place for at in self.learning}
        return {place: ms / self.steps for place, ms in spent.items() if place not in call}

    def dearest(self, named: Place | None) -> tuple[float, frozenset[Place]]:
        """What the dearest statement takes that runs no model, and the lines that are as dear.

        With the lines that ran inside of them. Statements around a model are told by their parts,
        but for that which is ``named``: less what its model takes.
        """
        spent: Counter[Place] = Counter()
        for at, one in enumerate(self.found):
            if self._is_top(at):
                spent[one.place] += one.ms  # type: ignore[assignment]
        most = max(spent.values(), default=0.0)
        if named is not None and named not in spent:
            spent[named] += self._beside_model(named)  # type: ignore[assignment]
        dear = frozenset(place for place, ms in spent.items() if ms >= _AS_DEAR * most)
        inside = {
            one.place
            for at, one in enumerate(self.found)
            if any(self.found[up].place in dear for up in self._above(at))
        }
        return max(most, spent[named] if named else 0.0) / self.steps, dear | inside

    def _beside_model(self, named: Place) -> float:
        """What a line takes beside a model that it calls."""
        spent = sum(one.ms for one in self.found if one.place == named)
        model = (
            self.found[at].ms
            for at in self._models()
            if any(self.found[up].place == named for up in (at, *self._above(at)))
        )
        return spent - sum(model)

    def _models(self) -> Iterator[int]:
        """The entries that call a model, but for those within one that calls its parts."""
        return (at for at in self.learning if not self._is_in_model(at))

    def _is_in_model(self, at: int) -> bool:
        return any(up in self.learning for up in self._above(at))

    def _is_top(self, at: int) -> bool:
        """Whether an entry runs no model, and all in which it ran do."""
        one = self.found[at]
        if not one.ms or at in self.around or at in self.learning:
            return False
        return (one.inside < 0 or one.inside in self.around) and not self._is_in_model(at)

    def _above(self, at: int) -> Iterator[int]:
        above = self.found[at].inside
        while above >= 0:
            yield above
            above = self.found[above].inside


def timed(folder: Path, ends: Sequence[int], warm: int) -> Timed | None:
    """What the steps after the warm-up took; None where there are too few."""
    if len(ends) <= warm + 1:
        return None
    begun, ended = ends[warm], ends[-1]
    count = len(ends) - 1 - warm
    found, learning = entries(folder, begun, ended)
    around = _around(found, learning)
    found = [one if at in around else _at_head(one) for at, one in enumerate(found)]
    return Timed(count, (ended - begun) / 1e6 / count, tuple(found), learning, around)


def _around(found: Sequence[Entry], learning: frozenset[int]) -> frozenset[int]:
    around: set[int] = set()
    for at in learning:
        above = found[at].inside
        while above >= 0 and above not in around:
            around.add(above)
            above = found[above].inside
    return frozenset(around)


def _at_head(one: Entry) -> Entry:
    """A loop without a model is the line of its head."""
    file, row = one.place
    return replace(one, place=(file, abs(row)))
