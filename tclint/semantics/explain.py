"""What the analysis believes of the expressions at a place, and why."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Position, Span
from tclint.records import record
from tclint.semantics.body import Body
from tclint.semantics.evidence import Evidence, evidence_of
from tclint.semantics.interpreter.analysis import Analysis
from tclint.semantics.lattice import options
from tclint.semantics.readable import is_guess, origin, readable
from tclint.semantics.symbols import ClassInfo, ModuleInfo
from tclint.semantics.values import (
    UNKNOWN,
    BoundExternal,
    Class,
    External,
    Function,
    Object,
    Tensor,
    Value,
)

CALLABLE: Final = (BoundExternal, Class, External, Function)
LONGEST: Final = 60


@record(frozen=True)
class Explained:
    """One expression with its value, joined over all the ways that lead to it, and the reasons.

    ``evidence`` is what is known of a parameter.
    """

    span: Span
    text: str
    value: Value
    reasons: tuple[str, ...]
    evidence: tuple[Evidence, ...] = ()

    def __str__(self) -> str:
        """One line: the place, the source text, the value, the reasons."""
        start = self.span.start
        reasons = f": {'; '.join(self.reasons)}" if self.reasons else ""
        return f"{start.row}:{start.column}  {self.text}  {readable(self.value)}{reasons}"


def explained(analysis: Analysis, module: ModuleInfo, row: int, column: int = 0) -> list[Explained]:
    """Explain the expressions that begin in a row, or those around one of its columns.

    In a row where none begins, that is the innermost one around. With a ``column`` the innermost
    comes first, and the functions that are called are explained as well. The result is empty where
    nothing at the place counts as compiled.
    """
    at = [
        (body, node)
        for body in analysis.bodies()
        if body.module is module
        for node in body.values
        if isinstance(node, ast.expr) and not isinstance(node, (ast.Constant, ast.Slice))
        if node.lineno <= row <= (node.end_lineno or 0)
    ]
    wanted = [*_at_column(at, row, column)] if column else [*_in_row(at, row)]
    found = [_explained(analysis, body, node) for body, node in wanted]
    found.sort(key=lambda item: item.span.start, reverse=bool(column))
    return sorted(found, key=lambda item: item.span.end) if column else found


_At = tuple[Body, ast.expr]


def _at_column(at: list[_At], row: int, column: int) -> Iterator[_At]:
    here = Position(row, column)
    for body, node in at:
        span = body.module.file.span(node)
        if span.start <= here < span.end:
            yield body, node


def _in_row(at: list[_At], row: int) -> Iterator[_At]:
    shown = [one for one in at if not isinstance(one[0].values[one[1]], CALLABLE)]
    begun = [one for one in shown if one[1].lineno == row]
    yield from begun or sorted(shown, key=_extent)[:1]


def _extent(one: _At) -> tuple[int, int]:
    node = one[1]
    return (node.end_lineno or node.lineno) - node.lineno, -node.lineno


def _explained(analysis: Analysis, body: Body, node: ast.expr) -> Explained:
    file, value = body.module.file, body.values[node]
    span = file.span(node)
    text = " ".join(file.excerpt(span).split())
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
    reasons, evidence = _reasons(analysis, body, node, value), _evidence(analysis, body, node)
    return Explained(span, text, value, tuple(reasons), tuple(evidence))


def _reasons(analysis: Analysis, body: Body, node: ast.expr, value: Value) -> Iterator[str]:
    tensors = (option for option in options(value) if isinstance(option, Tensor))
    yield from sorted({origin(t) for t in tensors if t.why and not is_guess(t)})
    if value is UNKNOWN and isinstance(node, ast.Call):
        callee = body.values.get(node.func, UNKNOWN)
        if isinstance(callee, CALLABLE):
            yield f"not known what {readable(callee)} gives"
    if value is UNKNOWN and isinstance(node, ast.Attribute):
        owner = body.values.get(node.value, UNKNOWN)
        cls = owner.cls if isinstance(owner, Object) else None
        if cls is not None and _is_set_nowhere(analysis, cls, node.attr):
            yield f"nothing that was read sets `{node.attr}` of `{cls.qualname}`"


def _is_set_nowhere(analysis: Analysis, cls: ClassInfo, name: str) -> bool:
    """True for an attribute that no class of the program above an object gives a value."""
    above = [one for one in analysis.project.ancestry(cls) if isinstance(one, ClassInfo)]
    return not any(
        name in one.methods
        or name in analysis.attributes.get(one, {})
        or name in analysis.class_variables(one)
        for one in above
    )


def _evidence(analysis: Analysis, body: Body, node: ast.expr) -> Iterator[Evidence]:
    """What speaks for a parameter to be a tensor, and against it."""
    if body.function is None or not isinstance(node, ast.Name):
        return
    if not body.assigns(node.id):
        yield from evidence_of(analysis, body.function, node.id)
