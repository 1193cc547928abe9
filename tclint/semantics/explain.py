"""What the analysis believes of the expressions at a place, and why."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from tclint.config import Config
from tclint.diagnostics import Position, Span
from tclint.records import record
from tclint.semantics.body import Body
from tclint.semantics.interpreter.analysis import Analysis
from tclint.semantics.interpreter.run import interpret
from tclint.semantics.lattice import options
from tclint.semantics.project import Project
from tclint.semantics.readable import is_guess, readable
from tclint.semantics.symbols import ModuleInfo, parameters_of
from tclint.semantics.values import UNKNOWN, BoundExternal, Class, External, Function, Tensor, Value

CALLABLE: Final = (BoundExternal, Class, External, Function)
LONGEST: Final = 60


@record(frozen=True)
class Explained:
    """One expression with its value, joined over all the ways that lead to it, and the reasons."""

    span: Span
    text: str
    value: Value
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        """One line: the place, the source text, the value, the reasons."""
        start = self.span.start
        reasons = f": {'; '.join(self.reasons)}" if self.reasons else ""
        return f"{start.row}:{start.column}  {self.text}  {readable(self.value)}{reasons}"


def explain(
    project: Project, paths: Iterable[Path], config: Config, file: Path, row: int, column: int = 0
) -> list[Explained]:
    """Explain the expressions that begin in a row, or those around one of its columns.

    With a ``column`` the innermost comes first, and the functions that are called are explained as
    well. The result is empty where nothing at the place counts as compiled.
    """
    module = project.module_at(file)
    if module is None:
        return []
    return explained(interpret(project, paths, config, ()), module, row, column)


def explained(analysis: Analysis, module: ModuleInfo, row: int, column: int = 0) -> list[Explained]:
    """Like :func:`explain`, from an analysis that is there already."""
    found: list[Explained] = []
    for body in analysis.bodies():
        if body.module is module:
            found += _in_body(analysis, body, row, column)
    found.sort(key=lambda item: item.span.start, reverse=bool(column))
    return sorted(found, key=lambda item: item.span.end) if column else found


def _in_body(analysis: Analysis, body: Body, row: int, column: int) -> Iterator[Explained]:
    file = body.module.file
    for node, value in body.values.items():
        if not isinstance(node, ast.expr) or isinstance(node, (ast.Constant, ast.Slice)):
            continue
        if node.lineno > row or (node.end_lineno or 0) < row:
            continue
        span = file.span(node)
        here = Position(row, column)
        wanted = span.start <= here < span.end if column else _shown(node, value, row)
        if wanted:
            text = " ".join(file.excerpt(span).split())
            text = text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
            yield Explained(span, text, value, tuple(_reasons(analysis, body, node, value)))


def _shown(node: ast.expr, value: Value, row: int) -> bool:
    return node.lineno == row and not isinstance(value, CALLABLE)


def _reasons(analysis: Analysis, body: Body, node: ast.expr, value: Value) -> Iterator[str]:
    tensors = (option for option in options(value) if isinstance(option, Tensor))
    yield from sorted({t.why for t in tensors if t.why and not is_guess(t)})
    if isinstance(node, ast.Name) and _never_bound(body, node.id):
        yield from _parameter_reasons(analysis, body, node.id)
    if value is UNKNOWN and isinstance(node, ast.Call):
        callee = body.values.get(node.func, UNKNOWN)
        if isinstance(callee, CALLABLE):
            yield f"not known what {readable(callee)} gives"


def _never_bound(body: Body, name: str) -> bool:
    return all(isinstance(use.ctx, ast.Load) for use in body.names(name))


def _parameter_reasons(analysis: Analysis, body: Body, name: str) -> Iterator[str]:
    if body.function is None:
        return
    for argument, default in parameters_of(body.function.node):
        if argument.arg != name:
            continue
        if argument.annotation is not None:
            yield f"annotated `{ast.unparse(argument.annotation)}`"
        if default is not None:
            yield f"`{ast.unparse(default)}` by default"
        observed = analysis.observed.get(body.function, {}).get(name, UNKNOWN)
        if observed is not UNKNOWN:
            yield f"calls pass {readable(observed)}"
