"""The user's own files, as far as stacks need them: statements, loops, code without gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from tclint.files import read_bytes
from tclint.run.recorded import Recorded

_WITHOUT = frozenset({"no_grad", "inference_mode"})
_MOVES = frozenset({"to", "cuda", "pin_memory"})
_LONGEST = 40
"""Characters of code that stand for a statement without a name."""


def own_file(one: Recorded, name: str) -> OwnFile:
    """A file that a process ran, or a cell of its notebook."""
    return OwnFile(Path(name), one.text_of(name))


class OwnFile:
    """The statements and loops of a file, or of a ``text`` that is none, by rows."""

    def __init__(self, path: Path, text: str | None = None) -> None:
        self._path = path
        self._text = text

    @cached_property
    def _tree(self) -> ast.Module:
        try:
            return ast.parse(read_bytes(self._path) if self._text is None else self._text)
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

    @cached_property
    def without_gradients(self) -> frozenset[int]:
        """The rows that run below ``torch.no_grad()`` or ``torch.inference_mode()``."""
        return frozenset(
            row
            for node in ast.walk(self._tree)
            if any(_name_of(one) in _WITHOUT for one in _contexts(node))
            for row in range(node.lineno, (node.end_lineno or node.lineno) + 1)  # type: ignore[attr-defined]
        )

    @cached_property
    def moves(self) -> frozenset[int]:
        """The first rows of statements that send tensors to a device, and wait for that."""
        return frozenset(
            self.statements.get(node.lineno, node.lineno)
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Call) and _moves(node)
        )

    def name(self, row: int) -> str:
        """What a statement is called: the function that it calls, or its beginning."""
        found = next(
            (
                node
                for node in ast.walk(self._tree)
                if isinstance(node, ast.stmt) and node.lineno == row
            ),
            None,
        )
        if found is None:
            return ""
        value = getattr(found, "value", None)
        if isinstance(value, ast.Await):
            value = value.value
        if isinstance(value, ast.Call) and (name := _name_of(value)):
            return name
        text = ast.unparse(found).split("\n", maxsplit=1)[0]
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4].rstrip()} ..."


def _moves(call: ast.Call) -> bool:
    """Whether a call is one that may wait until a tensor is on another device.

    ``x.to(torch.float32)`` is none.
    """
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _MOVES:
        return False
    named = {word.arg: word.value for word in call.keywords}
    runs_on = isinstance(waits := named.pop("non_blocking", None), ast.Constant) and waits.value
    given = [*call.args, *(value for name, value in named.items() if name != "dtype")]
    casts = call.func.attr == "to" and all(map(_is_dtype, given)) and bool(call.args or named)
    return not (runs_on or casts)


def _is_dtype(node: ast.expr) -> bool:
    """Whether it is ``torch.float32`` or the like: what is of ``torch`` alone is no device."""
    return isinstance(node, ast.Attribute) and ast.unparse(node.value) == "torch"


def _contexts(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.With(items=items) | ast.AsyncWith(items=items):
            yield from (item.context_expr for item in items)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield from node.decorator_list


def _name_of(node: ast.expr) -> str:
    """The last name of what is called, or of what stands there."""
    called = node.func if isinstance(node, ast.Call) else node
    match called:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
