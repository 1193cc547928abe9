"""Where autograd functions are applied, and whether compiled code ever gets there.

A function may give way while compiling: `if torch.compiler.is_compiling(): return other(x)`. What
stands behind that runs eagerly alone, whoever compiles the function, and what it applies with it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Final

from tclint.semantics.collect import dotted_name
from tclint.semantics.interpreter.analysis import Analysis
from tclint.semantics.interpreter.not_traced import not_traced
from tclint.semantics.project import Project
from tclint.semantics.records import record
from tclint.semantics.symbols import ClassInfo, FunctionInfo, ModuleInfo
from tclint.semantics.syntax import blocks_of
from tclint.torch_facts.compiling import COMPILING, COMPILING_NAMES, NOT_COMPILING

_LEAVES: Final = (ast.Return, ast.Raise)


@record(frozen=True)
class _Place:
    """A row that names a class; ``function`` is None at the top level of the file."""

    module: ModuleInfo
    function: FunctionInfo | None
    row: int


class Appliers:
    """The places that apply autograd functions, or hand them on to where that is done."""

    def __init__(self, analysis: Analysis, modules: Sequence[ModuleInfo]) -> None:
        self._analysis = analysis
        self._modules = modules
        self._places: dict[ClassInfo, list[_Place]] = {}
        self._out: dict[ClassInfo, bool] = {}

    def of(self, cls: ClassInfo) -> list[_Place]:
        """The places that say ``Name.apply``."""
        known = self._places.get(cls)
        if known is None:
            known = self._places[cls] = self._find(cls, rf"\b{cls.name}\.apply\b")
        return known

    def _find(self, cls: ClassInfo, pattern: str) -> list[_Place]:
        own = range(cls.node.lineno, (cls.node.end_lineno or 0) + 1)
        found: list[_Place] = []
        for module in self._modules:
            text = module.file.text
            for match in re.finditer(pattern, text) if cls.name in text else ():
                row = module.file.row(match.start())
                line = module.file.line(row).lstrip()
                if line.startswith(("import ", "from ", "#")) or (
                    module is cls.module and row in own
                ):
                    continue
                found.append(_Place(module, module.function_at(row), row))
        return found

    def are_out(self, cls: ClassInfo) -> bool:
        """Whether compiled code gets to no place that applies it, or names it where none does."""
        known = self._out.get(cls)
        if known is None:
            self._out[cls] = False  # until it is known: two may name each other
            places = self.of(cls) or self._find(cls, rf"\b{cls.name}\b")
            known = self._out[cls] = bool(places) and all(map(self._is_out, places))
        return known

    def _is_out(self, place: _Place) -> bool:
        function = place.function
        if function is None:
            return False
        holder = function.cls
        if holder is not None and function.name in GRADIENT and self.are_out(holder):
            return True
        return bool(not_traced(self._analysis, function)) or _is_passed_over(
            self._analysis.project, place.module, function, place.row
        )


GRADIENT: Final = ("forward", "setup_context", "backward")
"""The methods of an autograd function that Dynamo traces."""


def _is_passed_over(project: Project, module: ModuleInfo, function: FunctionInfo, row: int) -> bool:
    """Whether a row of a function is one that compiled code leaves out."""
    node = function.node
    return not isinstance(node, ast.Lambda) and _leaves_out(project, module, node.body, row)


def _leaves_out(project: Project, module: ModuleInfo, block: Sequence[ast.stmt], row: int) -> bool:
    for statement in block:
        verdict = (
            _answer(project, module, statement.test, []) if isinstance(statement, ast.If) else None
        )
        if statement.lineno <= row <= (statement.end_lineno or row):
            return _leaves_out_inside(project, module, statement, verdict, row)
        if isinstance(statement, ast.If) and verdict is not None and statement.lineno < row:
            taken = statement.body if verdict else statement.orelse
            if taken and isinstance(taken[-1], _LEAVES):
                return True
    return False


def _leaves_out_inside(
    project: Project, module: ModuleInfo, statement: ast.stmt, verdict: bool | None, row: int
) -> bool:
    for block in blocks_of(statement):
        if block[0].lineno <= row <= (block[-1].end_lineno or row):
            taken = isinstance(statement, ast.If) and (block is statement.body) is verdict
            if verdict is not None and not taken:
                return True
            return _leaves_out(project, module, block, row)
    return False


def _answer(
    project: Project, module: ModuleInfo, test: ast.expr, asked: list[FunctionInfo]
) -> bool | None:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            answer = _answer(project, module, operand, asked)
            return None if answer is None else not answer
        case ast.BoolOp(op=op, values=values):
            answers = {_answer(project, module, one, asked) for one in values}
            ends = isinstance(op, ast.Or)
            return ends if ends in answers else None if None in answers else not ends
        case ast.Call(func=func, args=[]):
            name = dotted_name(module, func) or ""
            if name in COMPILING or name.rpartition(".")[2] in COMPILING_NAMES:
                return True
            if name in NOT_COMPILING:
                return False
            return _of_function(project, module, func, name, asked)
    return None


def _of_function(
    project: Project, module: ModuleInfo, func: ast.expr, name: str, asked: list[FunctionInfo]
) -> bool | None:
    """What a function of the project returns, where that is all it does."""
    if isinstance(func, ast.Name):
        found = project.member(module, func.id)
    else:
        found = project.lookup(name, module) if name else None
    if not isinstance(found, FunctionInfo) or found in asked:
        return None
    body = getattr(found.node, "body", [])
    match [one for one in body if not isinstance(one, (ast.Expr, ast.Global))]:
        case [ast.Return(value=ast.expr() as value)]:
            return _answer(project, found.module, value, [*asked, found])
    return None
