"""Values that the code declares to be Python numbers, though some caller passes a tensor."""

from __future__ import annotations

import ast

from tclint.diagnostics import Decline
from tclint.semantics.bounds import Bound
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes
from tclint.semantics.values import Tensor

from ..facts.annotations import is_number_type
from ..facts.parameters import is_number_literal, is_number_parameter
from .certainty import may_be_number
from .numbers import is_python_number

VARIABLES = Bound(16, "variables to see that a number is declared", hides=False)


def takes_numbers(site: Site, node: ast.expr) -> Decline | None:
    """Why nothing may stand for ``node`` that only tensors have; None where it is a tensor."""
    name = _declared(site, node, VARIABLES.most)
    if not name and may_be_number(site, node):
        return Decline(f"`{site.text(node)}` may be a Python number: nothing says it is a tensor")
    if not name or _is_asked_for(site, node, name):
        return None
    return Decline(f"`{name}` is declared as a Python number, and eager callers may pass one")


def _is_asked_for(site: Site, node: ast.expr, name: str) -> bool:
    """True below ``if isinstance(name, torch.Tensor)`` or ``if torch.is_tensor(name)``."""
    inner: ast.AST = node
    for outer in site.ancestors(node):
        if isinstance(outer, (ast.If, ast.IfExp)):
            arm = outer.body if isinstance(outer.body, list) else [outer.body]
            if inner in arm and _asks_tensor(site, outer.test, name):
                return True
        inner = outer
    return False


def _asks_tensor(site: Site, test: ast.expr, name: str) -> bool:
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            return any(_asks_tensor(site, value, name) for value in values)
        case ast.Call(func=function, args=[asked, *kinds]) if site.text(asked) == name:
            tensors = [site.dotted(kind) == "torch.Tensor" for kind in kinds]
            return site.dotted(function) == "torch.is_tensor" or (bool(tensors) and all(tensors))
    return False


def _declared(site: Site, node: ast.expr, depth: int) -> str:
    """What makes ``node`` a Python number for callers that do as declared; empty for nothing.

    That is a parameter or an attribute, through the arithmetic and comparisons with other numbers.
    """
    match node:
        case ast.Name(id=name):
            return _of_name(site, node, name, depth)
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            given_here = any(stores(part, name) for part in nodes(site.body.scope))
            return "" if given_here or not _is_number_attribute(site, name) else f"self.{name}"
        case ast.UnaryOp(operand=operand):
            return _declared(site, operand, depth)
        case ast.BinOp(left=left, right=right):
            return _together(site, [left, right], depth)
        case ast.Compare(left=left, comparators=others):
            return _together(site, [left, *others], depth)
        case ast.BoolOp(values=values):
            return _together(site, values, depth)
    return ""


def _of_name(site: Site, node: ast.expr, name: str, depth: int) -> str:
    scope = site.body.scope
    if isinstance(scope, ast.Module):
        return ""
    if not depth:
        VARIABLES.cut()
        return name  # it may be
    value = site.flow.value(node)
    if value is not None:
        return _declared(site, value, depth - 1)
    return name if is_number_parameter(scope, name) else ""


def _together(site: Site, members: list[ast.expr], depth: int) -> str:
    """Operands that are numbers all of them, at least one because it is declared so."""
    found = [_declared(site, member, depth) for member in members]
    others = (m for m, name in zip(members, found, strict=True) if not name)
    return next(filter(None, found), "") if all(_plain(site, m) for m in others) else ""


def _plain(site: Site, node: ast.expr) -> bool:
    tensors = any(isinstance(value, Tensor) for value in options(site.value(node)))
    return not tensors and is_python_number(site, node)


def stores(node: ast.AST, attribute: str) -> bool:
    """True for the target of an assignment to such an attribute, of whatever it is."""
    return isinstance(node, ast.Attribute) and (
        node.attr == attribute and isinstance(node.ctx, ast.Store)
    )


def _is_number_attribute(site: Site, name: str) -> bool:
    """True where `__init__` gives the attribute a number, or a parameter declared as one."""
    init = site.cls.methods.get("__init__") if site.cls else None
    for statement in nodes(init.node) if init else ():
        match statement:
            case ast.AnnAssign(target=ast.Attribute(attr=attr), annotation=kind) if attr == name:
                return is_number_type(kind)
            case ast.Assign(targets=[ast.Attribute(attr=attr)], value=value) if attr == name:
                assert init is not None
                given = isinstance(value, ast.Name) and is_number_parameter(init.node, value.id)
                return given or is_number_literal(value)
    return False
