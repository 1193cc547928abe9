"""LayerDrop by a number of numpy's or Python's: compiled code draws it only where it decides."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Confidence, Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.lattice import is_tensor, options
from tclint.semantics.site import Site
from tclint.semantics.syntax import beside
from tclint.semantics.values import Static

from ..facts.known import constant
from ..facts.purity import is_pure
from .proved import NO_TORCH

_MESSAGE: Final = (
    "In compiled code, draw the number only where the test needs it: eager code stays as it is, "
    "and where the test needs it the graph breaks as before"
)
_IS_COMPILING: Final = "torch.compiler.is_compiling"
_POSITIVE: Final = "$rate > 0.0"
_GUARDS: Final = (ast.Name, ast.Attribute)


def is_drawn_if_needed(site: Site, call: ast.Call) -> bool:
    """True for a draw that this repair has been made on."""
    return any(
        isinstance(part, ast.Call) and site.dotted(part.func) == _IS_COMPILING
        for outer in site.ancestors(call)
        if isinstance(outer, ast.If)
        for part in ast.walk(outer.test)
    )


def confidence_of_draw(site: Site, call: ast.Call) -> Confidence | None:
    """How sure a break is at a draw that this repair has been made on; None for other draws."""
    tests = [outer.test for outer in site.ancestors(call) if isinstance(outer, ast.If)]
    if not is_drawn_if_needed(site, call):
        return None
    off = any(_is_usually_off(site, test) for test in tests)
    return Confidence.LOW if off else Confidence.MEDIUM


def _is_usually_off(site: Site, test: ast.expr) -> bool:
    """True for flags that are off by default, and for rates that may be zero."""
    match test:
        case ast.BoolOp(values=values):
            return any(_is_usually_off(site, value) for value in values)
        case ast.Compare(left=rate, ops=[ast.Gt()], comparators=[ast.Constant(value=0.0)]):
            return (constant(site, rate) or 0.0) <= 0.0
        case ast.Name() | ast.Attribute():
            kinds = [*options(site.value(test))]
            return all(isinstance(kind, Static) and kind.default_off for kind in kinds)
    return False


def draw_if_needed(site: Site, call: ast.Call) -> Repair | Decline:
    """Rewrite ``p = draw()`` where the next statement may decide without looking at ``p``."""
    test = _decision(site, call)
    if isinstance(test, Decline):
        return test
    spelled = site.spell(_IS_COMPILING)
    if spelled is None:
        return NO_TORCH
    templates, parts = _needed(site, test)
    if not templates or (templates == [_POSITIVE] and constant(site, parts["rate"])):
        return Decline(f"`{site.text(test)}` always depends on the number")
    needed = " and ".join(templates)
    needed = f"({needed})" if len(templates) > 1 else needed
    statement = site.statement
    assert isinstance(statement, ast.Assign)
    template = f"$p = 1.0\nif not {spelled}() or {needed}:\n    $draw"
    whole = Replace(statement, template, {"p": statement.targets[0], "draw": statement, **parts})
    return Repair(_MESSAGE, (whole,))


def _decision(site: Site, call: ast.Call) -> ast.Compare | Decline:
    """The one comparison of the number, in the statement after the draw."""
    statement = site.parent(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
        return Decline("the number is not assigned to a variable that a test may not need")
    made = site.flow.holder(call)
    reads = site.flow.own_reads(made) if made is not None else None
    if reads is None or len(reads) != 1:
        return Decline(f"`{target.id}` is used for more than one comparison")
    test = site.parent(reads[0])
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return Decline(f"`{target.id}` is used for more than one comparison")
    _, behind = beside(site.parent(statement), statement)
    if not behind or not any(part is test for part in _evaluated(behind[0])):
        return Decline("the next statement does not test the number")
    return test


def _evaluated(statement: ast.stmt) -> list[ast.expr]:
    """What a statement evaluates first: the operands of its test or of its value."""
    match statement:
        case ast.If(test=whole) | ast.Assign(value=whole):
            return _operands(whole)
    return []


def _operands(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BoolOp(values=values):
            return [part for value in values for part in _operands(value)]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _operands(operand)
    return [node]


def _needed(site: Site, test: ast.Compare) -> tuple[list[str], dict[str, ast.expr]]:
    """When the number decides, as templates: what is asked before it, and a positive rate."""
    templates: list[str] = []
    parts: dict[str, ast.expr] = {}
    inner: ast.AST = test
    outer = site.parent(test)
    while isinstance(outer, (ast.BoolOp, ast.UnaryOp)):
        if isinstance(outer, ast.BoolOp):
            before = outer.values[: next(i for i, v in enumerate(outer.values) if v is inner)]
            wanted = isinstance(outer.op, ast.And)
            for guard in before:
                _add(site, guard, templates, parts, wanted=wanted)
        inner, outer = outer, site.parent(outer)
    if isinstance(test.ops[0], ast.Lt) and not isinstance(test.comparators[0], ast.Constant):
        rate = test.comparators[0]
        if is_pure(site, rate) and not is_tensor(site.value(rate)):
            parts["rate"] = rate
            templates.append(_POSITIVE)
    return templates, parts


def _add(
    site: Site, guard: ast.expr, templates: list[str], parts: dict[str, ast.expr], *, wanted: bool
) -> None:
    """Add a flag that is asked before the number; other conditions are left out."""
    while isinstance(guard, ast.UnaryOp) and isinstance(guard.op, ast.Not):
        guard, wanted = guard.operand, not wanted
    if isinstance(guard, _GUARDS) and is_pure(site, guard) and not is_tensor(site.value(guard)):
        name = f"flag_{len(parts)}"
        parts[name] = guard
        templates.append(f"${name}" if wanted else f"not ${name}")
