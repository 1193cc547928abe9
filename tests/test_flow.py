"""What a read of a variable finds: held against Python, which runs the programs."""

from __future__ import annotations

import ast
import contextlib
import random
from collections.abc import Callable, Iterator

import pytest

from tclint.semantics.flow import Definition, Flow
from tclint.semantics.syntax import nodes

_NAMES = "abc"


def _flow(source: str) -> tuple[ast.AST, Flow]:
    (function,) = ast.parse(source).body
    return function, Flow(function)


def _reads(function: ast.AST, name: str) -> list[ast.Name]:
    found = (n for n in nodes(function) if isinstance(n, ast.Name) and n.id == name)
    return sorted(
        (n for n in found if isinstance(n.ctx, ast.Load)), key=lambda n: (n.lineno, n.col_offset)
    )


def _value(source: str, name: str = "x") -> str | None:
    """What the last read of a variable is certain to be."""
    function, flow = _flow(source)
    found = flow.value(_reads(function, name)[-1])
    return None if found is None else ast.unparse(found)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f():\n x = 1\n x = 2\n return x", "2"),
        ("def f(c):\n x = 1\n if c:\n  x = 2\n return x", None),
        ("def f(c):\n if c:\n  x = 2\n  return x\n x = 3\n return x", "3"),
        ("def f(c):\n x = 1\n if c:\n  x = 2\n  return 0\n return x", "1"),
        ("def f(m):\n with m:\n  x = 2\n return x", "2"),
        ("def f(m):\n x = 1\n with m:\n  x = 2\n return x", None),
        ("def f(m):\n x = 1\n for _ in m:\n  print(x)\n  x = 2", None),
        ("def f(a, b):\n x, y = a.t(), b\n return x", "a.t()"),
        ("def f(a):\n x, *y = a, 2, 3\n return x", None),
        ("def f(a):\n x = a\n x += 1\n return x", None),
        ("def f(a):\n x = 5\n return [x for x in a]", None),
        ("def f(a):\n x = 5\n return [x for _ in a]", "5"),
        ("def f(a):\n x = 5\n y = (x for _ in a)\n x = 6\n return y", None),
        ("def f(a):\n x = 5\n def g():\n  return x\n return g", "5"),
        ("def f(a):\n x = 5\n def g():\n  nonlocal x\n  x = 6\n g()\n return x", None),
        ("def f(a):\n x = 5\n def g(x):\n  return x\n return g", None),
        ("def f(a):\n x = 5\n def g():\n  y = [x for x in a]\n  return x\n return g", "5"),
        ("def f(a):\n x = 5\n class A:\n  x = 6\n  y = x\n return A", None),
        ("def f(a):\n x = 5\n class A:\n  x = 6\n  def g(self):\n   return x\n return A", "5"),
        ("def f(a):\n try:\n  x = a()\n  x = 2\n except E:\n  return x", None),
        ("def f(a):\n x = 1\n return (x := 2) if a else x", None),
        ("def f(a):\n if (x := a()) > 1:\n  return x", "a()"),
        ("def f(a):\n x = 1\n match a:\n  case [x]:\n   pass\n return x", None),
        ("def f(a):\n x = 1\n import x\n return x", None),
        ("def f(a):\n x = 1\n del x\n return x", None),
        ("def f(a):\n x: int = a\n return x", "a"),
        ("lambda x: x", None),
    ],
)
def test_value_is_the_only_one_that_a_read_can_find(source: str, expected: str | None) -> None:
    assert _value(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f():\n x = 1\n p(x)\n q(x)\n x = 2\n r(x)", [3, 4]),
        ("def f(c):\n x = 1\n if c:\n  x = 2\n return x", None),
        ("def f(c):\n if c:\n  x = 1\n return x", [4]),
        ("def f(c):\n for _ in c:\n  p(x)\n  x = 1", [3]),
        ("def f(c):\n x = 1\n p(x)\n if c:\n  x = 2\n  return x\n x = 3\n return x", [3]),
        ("def f(c):\n x = 1\n x += 2\n return x", [3]),
        ("def f(c):\n while c:\n  x = 1\n  p(x)\n  x = 2\n return x", [4]),
        ("def f(c):\n while c:\n  x = 1\n  if c:\n   continue\n  x = 2\n return x", None),
        ("def f(c):\n while c:\n  x = 1\n  if c:\n   break\n  x = 2\n return x", None),
        ("def f(c):\n x = 1\n def g():\n  return x\n return g", [4]),
        ("def f(c):\n x = 1\n def g():\n  return x\n x = 2\n return g", None),
    ],
)
def test_own_reads_find_nothing_else(source: str, expected: list[int] | None) -> None:
    _, flow = _flow(source)
    made = next(one for one in flow.made("x") if one.value is not None)
    found = flow.own_reads(made)
    assert (found if found is None else [read.lineno for read in found]) == expected


def _sources(definition: Definition | None) -> set[int]:
    """The rows of all that may have bound what a read finds."""
    pending, rows, seen = [definition], set[int](), set[Definition]()
    while pending:
        one = pending.pop()
        if one is None or one in seen:
            continue
        seen.add(one)
        pending += one.merged
        if not one.merged and not isinstance(one.node, ast.comprehension):
            rows.add(one.node.lineno)
    return rows


class _Writer:
    """Writes functions at random; each binding gives the number of its row."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.rows = ["def f(use, chance, manager):"]
        self._loops = 0

    def source(self) -> str:
        for name in _NAMES:
            self._add(1, f"{name} = {len(self.rows) + 1}")
        self._block(1, 4)
        return "\n".join(self.rows) + "\n"

    def _add(self, depth: int, text: str) -> None:
        self.rows.append(" " * depth + text)

    def _block(self, depth: int, size: int) -> None:
        self._add(depth, "pass")
        for _ in range(self._random.randint(1, size)):
            self._one(depth)

    def _one(self, depth: int) -> None:
        name = self._random.choice(_NAMES)
        kinds = ["bind", "read", "read"] + (["if", "loop", "try", "with", "leave"] * (depth < 5))
        match self._random.choice(kinds):
            case "bind":
                self._bind(depth, name)
            case "read":
                self._add(depth, f"use({len(self.rows) + 1}, {name!r}, {name})")
            case "if":
                self._add(depth, "if chance():")
                self._block(depth + 1, 3)
                if self._random.random() < 0.6:
                    self._add(depth, self._random.choice(["else:", "elif chance():"]))
                    self._block(depth + 1, 3)
            case "loop":
                row = len(self.rows) + 1
                self._add(
                    depth,
                    self._random.choice([f"for {name} in ({row}, {row}):", "while chance():"]),
                )
                self._loops += 1
                self._block(depth + 1, 3)
                self._loops -= 1
                if self._random.random() < 0.3:
                    self._add(depth, "else:")
                    self._block(depth + 1, 2)
            case "try":
                self._add(depth, "try:")
                self._block(depth + 1, 3)
                self._add(depth, "except ValueError:")
                self._block(depth + 1, 2)
                if self._random.random() < 0.4:
                    self._add(depth, "finally:")
                    self._block(depth + 1, 2)
            case "with":
                self._add(depth, "with manager():")
                self._block(depth + 1, 3)
            case "leave":
                kinds = ["return", "raise ValueError"] + ["break", "continue"] * bool(self._loops)
                self._add(depth, "if chance():")
                self._add(depth + 1, self._random.choice(kinds))

    def _bind(self, depth: int, name: str) -> None:
        row = len(self.rows) + 1
        forms = [
            f"{name} = {row}",
            f"{name} += {row} - {name}",
            f"{name}, _ = {row}, 0",
            f"chance() and ({name} := {row})",
            f"use({row}, {name!r}, [{name} for {name} in (0,)] and {name})",
        ]
        self._add(depth, self._random.choice(forms))


class _Manager:
    def __init__(self, swallows: bool) -> None:
        self._swallows = swallows

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return self._swallows and kind is ValueError


def _runs(source: str, seed: int) -> Iterator[list[tuple[int, str, int]]]:
    """The reads of each run: their rows, the variables, and the rows that bound what they saw."""
    namespace: dict[str, Callable[..., None]] = {}
    exec(source, namespace)  # the program was written above
    for run in range(25):
        chances = random.Random(seed * 1000 + run)
        seen: list[tuple[int, str, int]] = []

        def use(row: int, name: str, value: int, seen: list[tuple[int, str, int]] = seen) -> None:
            seen.append((row, name, value))
            if len(seen) > 200:
                raise KeyboardInterrupt

        def chance(chances: random.Random = chances) -> bool:
            if chances.random() < 0.1:
                raise ValueError
            return chances.random() < 0.5

        with contextlib.suppress(ValueError, UnboundLocalError, KeyboardInterrupt):
            namespace["f"](use, chance, lambda c=chances: _Manager(c.random() < 0.5))
        yield seen


@pytest.mark.parametrize("batch", range(8))
def test_reads_find_what_python_finds(batch: int) -> None:
    for seed in range(batch * 40, batch * 40 + 40):
        source = _Writer(seed).source()
        function, flow = _flow(source)
        found = {
            (read.lineno, name): flow.definition(read)
            for name in _NAMES
            for read in _reads(function, name)
        }
        loops = any(row.lstrip().startswith(("for ", "while ")) for row in source.splitlines())
        for seen in _runs(source, seed):
            bound_by = dict[Definition | None, int]()
            for row, name, bound in seen:
                definition = found[row, name]
                assert bound in _sources(definition), f"{name} in row {row}, {bound}:\n{source}"
                alike = bound_by.setdefault(definition, bound) == bound
                assert alike or loops, f"{name} in row {row} finds {bound}, too:\n{source}"
