"""Inlay hints: which variables of compiled regions hold values that live on the device."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Position
from tclint.records import record
from tclint.semantics.body import Body
from tclint.semantics.interpreter.analysis import Analysis
from tclint.semantics.lattice import options
from tclint.semantics.readable import readable
from tclint.semantics.symbols import ModuleInfo
from tclint.semantics.values import DataScalar, Tensor, Value

LONGEST: Final = 40


@record(frozen=True)
class Hint:
    """What to show behind a place."""

    place: Position
    label: str


def hints_in(analysis: Analysis, module: ModuleInfo) -> Iterator[Hint]:
    """A hint for each variable at its assignments, in the functions that are compiled."""
    for body in analysis.bodies():
        if body.module is module and body.function in analysis.visited:
            yield from _in_body(body)


def _in_body(body: Body) -> Iterator[Hint]:
    file = body.module.file
    for node in ast.walk(body.scope):
        if not isinstance(node, ast.Assign) or node.value not in body.values:
            continue
        value = body.values[node.value]
        if not _lives_on_device(value):
            continue
        label = readable(value)
        label = label if len(label) <= LONGEST else f"{label[: LONGEST - 3]}..."
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield Hint(file.span(target).end, label)


def _lives_on_device(value: Value) -> bool:
    return any(isinstance(option, (DataScalar, Tensor)) for option in options(value))
