"""Which settings of Dynamo let it trace a read: is the number only computed with afterwards?

With `capture_scalar_outputs` a number of a tensor is a symbol in the graph. What computes with it,
or tells torch a size, is traced; what has to know it, such as a branch or a count of rounds, is
not.
"""

from __future__ import annotations

import ast
from typing import Final

from tclint.semantics.bounds import Bound
from tclint.semantics.events import HostRead
from tclint.semantics.lattice import all_are, options
from tclint.semantics.site import Site
from tclint.semantics.values import Sequence, Static, Tensor
from tclint.torch_facts.dynamo_settings import SCALARS

from ..facts.known import is_parameter

STEPS: Final = Bound(12, "steps to see that a number stays in the graph", hides=False)
_COMPUTED_BY: Final = frozenset({"abs", "float", "int", "max", "min", "pow", "round"})
_TAKERS: Final = ("torch.", "math.")
_ARITHMETIC: Final = (ast.USub, ast.UAdd, ast.Invert)
_ORDER: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


def settings_for(event: HostRead) -> tuple[str, ...]:
    """The settings with which a read of one number is traced, and all that is done with it."""
    node = event.node
    if not isinstance(node, ast.expr) or not stays_symbol(event.site, node):
        return ()
    return (SCALARS,)


def stays_symbol(site: Site, node: ast.expr, depth: int = STEPS.most) -> bool:
    """True where no code that tclint sees has to know the number that an expression gives."""
    outer = site.parent(node)
    match outer:
        case _ if not depth:
            STEPS.cut()
            return False
        case ast.Expr():
            return True
        case ast.Return():
            return _is_left_to_eager_code(site)
        case ast.Assign() | ast.AnnAssign() | ast.NamedExpr() | ast.AugAssign():
            return _is_kept(site, outer, depth)
        case ast.BinOp() | ast.UnaryOp() | ast.Compare():
            return _computes(site, outer, node, depth)
        case ast.Slice() | ast.Tuple() | ast.List() | ast.Call() | ast.keyword():
            return _is_given(site, outer, node, depth)
    return False


def _is_kept(site: Site, statement: ast.AST, depth: int) -> bool:
    match statement:
        case ast.Assign(targets=[target]):
            return _is_bound(site, target, depth)
        case ast.AnnAssign(target=target) | ast.NamedExpr(target=target):
            return _is_bound(site, target, depth)
        case ast.AugAssign(target=target):
            return all_are(site.value(target), Tensor) or _is_bound(site, target, depth)
    return False


def _is_given(site: Site, outer: ast.AST, node: ast.expr, depth: int) -> bool:
    match outer:
        case ast.Slice():
            indexed = _indexed(site, outer)
            return indexed is not None and all_are(site.value(indexed), Tensor)
        case ast.Tuple() | ast.List():
            around = site.parent(outer)
            if isinstance(around, (ast.Call, ast.keyword)):
                return stays_symbol(site, outer, depth - 1)
            return isinstance(around, ast.Return) and _is_left_to_eager_code(site)
        case ast.keyword():
            call = site.parent(outer)
            return isinstance(call, ast.Call) and _is_taken(site, call, depth)
        case ast.Call() if outer.func is not node:
            return _is_taken(site, outer, depth)
    return False


def _is_left_to_eager_code(site: Site) -> bool:
    """True for what a function returns whose caller is not compiled."""
    return len(site.chain) == 1


def _computes(site: Site, outer: ast.expr, node: ast.expr, depth: int) -> bool:
    """True for arithmetic with numbers and tensors; what takes the result may not know it, too."""
    match outer:
        case ast.UnaryOp(op=op):
            return isinstance(op, _ARITHMETIC) and stays_symbol(site, outer, depth - 1)
        case ast.Compare(ops=[op], left=left, comparators=[right]):
            others = [right if left is node else left]
            if not isinstance(op, _ORDER):
                return False
        case ast.BinOp(left=left, right=right):
            others = [right if left is node else left]
        case _:
            return False
    if any(_is_collection(site, other) or _is_foreign(site, other) for other in others):
        return False
    return all_are(site.value(outer), Tensor) or stays_symbol(site, outer, depth - 1)


def _is_bound(site: Site, target: ast.expr, depth: int) -> bool:
    """True where all that reads a variable computes with it."""
    if not isinstance(target, ast.Name) or site.body.is_declared(target.id):
        return False
    return all(stays_symbol(site, load, depth - 1) for load in site.loads(target.id))


def _is_taken(site: Site, call: ast.Call, depth: int) -> bool:
    """True for a function that needs no more of a number than that it is one."""
    name = site.dotted(call.func) or ""
    if name in _COMPUTED_BY:
        return stays_symbol(site, call, depth - 1)
    if isinstance(call.func, ast.Attribute) and all_are(site.value(call.func.value), Tensor):
        return True
    if not name.startswith(_TAKERS):
        return False
    return all_are(site.value(call), Tensor) or stays_symbol(site, call, depth - 1)


def _indexed(site: Site, node: ast.Slice) -> ast.expr | None:
    """What a slice is of."""
    outer = site.parent(node)
    outer = site.parent(outer) if isinstance(outer, ast.Tuple) else outer
    return outer.value if isinstance(outer, ast.Subscript) else None


def _is_foreign(site: Site, node: ast.expr) -> bool:
    """True for an attribute of a global object: Dynamo does not know all of them as numbers."""
    inner = node
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    if inner is node or not isinstance(inner, ast.Name):
        return False
    if all_are(site.value(node), Static, Tensor):
        return False
    return not site.stores(inner.id) and not is_parameter(site, inner.id)


def _is_collection(site: Site, node: ast.expr) -> bool:
    """True for a list that a number may repeat, or a text that it may be written into."""
    return any(
        isinstance(kind, Sequence) or (isinstance(kind, Static) and isinstance(kind.value, str))
        for kind in options(site.value(node))
    )
