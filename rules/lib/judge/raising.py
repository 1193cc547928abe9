"""Expressions that certainly raise nothing, so that evaluating them or not is the same."""

from __future__ import annotations

import ast

from tclint.semantics.lattice import tensor_in
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes
from tclint.semantics.values import Object, Tensor

from ..facts.purity import is_property
from .same_device import are_together

# On a tensor of any shape and dtype that torch computes with these cannot raise; others only on
# some dtypes (float8 and uint16, which are for storage, aside).
_TOTAL = frozenset("all any sum isnan isinf isfinite logical_not".split())
_TOTAL_OF = {"mean": ("float", "complex"), "abs": ("int", "float", "complex")}
_PLAIN_ATTRIBUTES = frozenset("data device dtype ndim requires_grad shape".split())
_ORDERING = frozenset("max min amax amin aminmax argmax argmin median count_nonzero".split())
_CONDITIONAL = (ast.BoolOp, ast.IfExp, ast.Lambda, ast.GeneratorExp, ast.ListComp)
ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def cannot_raise(site: Site, node: ast.expr) -> bool:
    """True when evaluating ``node`` has no side effect and certainly raises nothing."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return _number(node)
        case ast.Name():
            return is_bound(site, node)
        case ast.Attribute(value=owner):
            return cannot_raise(site, owner) and _is_there(site, node)
        case ast.Call():
            return _total_call(site, node)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            sides = cannot_raise(site, left) and cannot_raise(site, right)
            return sides and _compares(site, left, op, right)
    return False


def is_bound(site: Site, name: ast.Name) -> bool:
    """True for a variable that certainly has a value: a parameter, or given one just before."""
    stores = site.stores(name.id)
    if any(isinstance(store.ctx, ast.Del) for store in stores):
        return False
    if not stores or name.id in _parameters(site.body.scope):
        return True
    inner: ast.AST = name
    for outer in site.ancestors(name):
        for block in (getattr(outer, "body", None), getattr(outer, "orelse", None)):
            if isinstance(block, list) and inner in block:
                before = block[: block.index(inner)]
                if any(_assigns(statement, name.id) for statement in before):
                    return True
        inner = outer
    return False


def _parameters(scope: ast.AST) -> set[str]:
    arguments = getattr(scope, "args", None)
    return {a.arg for a in nodes(arguments) if isinstance(a, ast.arg)} if arguments else set()


def _assigns(statement: ast.stmt, name: str) -> bool:
    if not isinstance(statement, ast.Assign):
        return False
    named = (part for target in statement.targets for part in nodes(target))
    return any(isinstance(p, ast.Name) and p.id == name and _is_store(p) for p in named)


def _is_store(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _is_there(site: Site, node: ast.Attribute) -> bool:
    """True for an attribute that is known to be there, and no property that may compute."""
    match site.value(node.value):
        case Tensor():
            return node.attr in _PLAIN_ATTRIBUTES
        case Object():
            return not is_property(site, node) and isinstance(site.value(node), Tensor)
    return False


def _total_call(site: Site, node: ast.Call) -> bool:
    function = node.func
    if node.keywords or not isinstance(function, ast.Attribute):
        return False
    subjects = node.args if _is_torch(site, function) else [function.value, *node.args]
    if len(subjects) != 1:
        return False
    tensor = site.value(subjects[0])
    if not isinstance(tensor, Tensor) or not cannot_raise(site, subjects[0]):
        return False
    category = tensor.dtype.category if tensor.dtype else None
    return function.attr in _TOTAL or category in _TOTAL_OF.get(function.attr, ())


def _is_torch(site: Site, function: ast.Attribute) -> bool:
    return (site.dotted(function) or "").startswith("torch.")


def _compares(site: Site, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool:
    """True when comparing two sides, tensors of one device or numbers, cannot raise."""
    tensors = [site.value(side) for side in (left, right) if not _number(side)]
    if not tensors or not all(isinstance(tensor, Tensor) for tensor in tensors):
        return False
    ranks = [tensor.rank for tensor in tensors if isinstance(tensor, Tensor)]
    if len(ranks) == 2 and (0 not in ranks or not are_together(site, (left, right))):
        return False
    if isinstance(op, (ast.Eq, ast.NotEq)):
        return True
    return isinstance(op, ORDER) and all(
        _ordered(site, side) for side in (left, right) if not _number(side)
    )


def _ordered(site: Site, side: ast.expr) -> bool:
    """True for a tensor that is not complex: known to be none, or compared before in its test."""
    tensor = site.value(side)
    dtype = tensor.dtype if isinstance(tensor, Tensor) else None
    if dtype is not None and dtype.category in ("bool", "int", "float"):
        return True
    if isinstance(side, ast.Call) and is_ordering(side):
        return True
    return ast.dump(side) in _compared_first(site, side)


def is_ordering(call: ast.Call) -> bool:
    """True for a method or function that takes no complex tensor, so that none comes out."""
    function = call.func
    return isinstance(function, ast.Attribute) and function.attr in _ORDERING


def _compared_first(site: Site, side: ast.expr) -> set[str]:
    """What is compared by size before ``side`` is: in the first operand, or first in a chain.

    A comparison that stands alone does not come before itself.
    """
    test: ast.AST = side
    for outer in site.ancestors(side):
        if isinstance(outer, (ast.BoolOp, ast.Compare, ast.UnaryOp)):
            test = outer
    first = _evaluated_first(site, test)
    if any(isinstance(part, _CONDITIONAL) for part in nodes(first)):
        return set()
    orders = (
        part
        for part in nodes(first)
        if isinstance(part, ast.Compare) and isinstance(part.ops[0], ORDER)
        if len(part.ops) > 1 or part is not site.parent(side)
    )
    return {ast.dump(side) for part in orders for side in (part.left, part.comparators[0])}


def _evaluated_first(site: Site, test: ast.AST) -> ast.AST:
    """The first operand that has to do with tensors, which no other one decides about."""
    while isinstance(test, (ast.BoolOp, ast.UnaryOp)):
        if isinstance(test, ast.UnaryOp):
            test = test.operand
        else:
            test = next((v for v in test.values if _has_tensor(site, v)), test.values[0])
    return test


def _has_tensor(site: Site, node: ast.expr) -> bool:
    return any(tensor_in(site.value(part)) is not None for part in nodes(node))


def _number(node: ast.expr) -> bool:
    """True for a number that a tensor can be compared with: ints of up to 64 bits."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    if not isinstance(node, ast.Constant) or not isinstance(node.value, (int, float)):
        return False
    return isinstance(node.value, float) or node.value < 2**63
