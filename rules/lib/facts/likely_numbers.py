"""Tests that say more about a value than the analysis knows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.semantics.bounds import Bound
from tclint.semantics.events import HostRead
from tclint.semantics.lattice import all_are, options
from tclint.semantics.site import Site
from tclint.semantics.symbols import parameters_of
from tclint.semantics.syntax import asked_of
from tclint.semantics.values import Static, SymInt, Tensor

_PLAIN = (
    ast.Name | ast.Attribute | ast.Constant | ast.BinOp | ast.UnaryOp | ast.Compare | ast.operator
    | ast.unaryop | ast.cmpop | ast.expr_context
)  # fmt: skip
_NARROW = frozenset({"dtype", "float16", "half", "bfloat16"})
_USUAL = frozenset({"float", "float32"})
_OTHERS = (ast.NotEq, ast.NotIn, ast.IsNot)


def is_likely_number(site: Site, node: ast.expr) -> bool:
    """True where a parameter was taken for a tensor, and is used bare as numbers are.

    ``length > 1`` and ``x[:length]`` ask for one number, which a model's inputs seldom are.
    """
    parts = list(_parts(site, node))
    if not all(isinstance(part, _PLAIN) for part in parts):
        return False
    if isinstance(node, ast.Name) and _is_flag(site, node.id):
        return True
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    if any(site.stores(name) and not _is_unpacked(site, name) for name in names):
        return False
    if any(site.body.computed_around(name) or _is_result(site, name) for name in names):
        return False
    tensors = [
        kind
        for part in parts
        if isinstance(part, (ast.Name, ast.Attribute))
        for kind in options(site.value(part))
        if isinstance(kind, Tensor)
    ]
    return bool(tensors) and all(tensor.assumed and not _is_computed(tensor) for tensor in tensors)


def _parts(site: Site, node: ast.AST) -> Iterator[ast.AST]:
    """The syntax of an expression without names for parts of it, and without sizes in it."""
    while isinstance(node, ast.NamedExpr):
        node = node.value
    if isinstance(node, ast.Subscript) and all_are(site.value(node), Static, SymInt):
        return
    yield node
    for inner in ast.iter_child_nodes(node):
        yield from _parts(site, inner)


def is_likely_number_everywhere(event: HostRead) -> bool:
    """True where it is a number on some paths, and on the others what a caller passes."""
    return event.sometimes and event.tensor.assumed and not _is_computed(event.tensor)


def _is_computed(tensor: Tensor) -> bool:
    """True for what an operation on a tensor gave: nobody passes that as a number."""
    return tensor.why.startswith("result of ")


def _is_result(site: Site, name: str) -> bool:
    """True for a parameter that is given what an operation on tensors gives: ``g(x.sum())``."""
    given = [*site.given(name), *_defaults(site, name)]
    return bool(given) and all(isinstance(node, ast.Call) for _, node in given)


def _defaults(site: Site, name: str) -> Iterator[tuple[Site, ast.expr]]:
    if site.function is None or any(True for _ in site.given(name)):
        return
    pairs = parameters_of(site.function.node)
    yield from ((site, given) for argument, given in pairs if argument.arg == name and given)


def _is_unpacked(site: Site, name: str) -> bool:
    """True for ``h, w = sizes[-1]``: rows of a tensor are seldom taken apart like that."""
    for one in site.flow.made(name):
        match one.node:
            case (
                ast.Assign(targets=[ast.Tuple()], value=given)
                | ast.For(target=ast.Tuple(), iter=given)
            ):
                if not all(isinstance(part, _PLAIN | ast.Subscript) for part in ast.walk(given)):
                    return False
            case ast.arg():
                continue
            case _:
                return False
    return True


def _is_flag(site: Site, name: str) -> bool:
    """True for a parameter that is annotated as a bool, or is one when nobody passes it."""
    if site.function is None:
        return False
    for argument, default in parameters_of(site.function.node):
        if argument.arg == name:
            annotated = argument.annotation is not None and any(
                isinstance(part, ast.Name) and part.id == "bool"
                for part in ast.walk(argument.annotation)
            )
            return annotated or (
                isinstance(default, ast.Constant) and isinstance(default.value, bool)
            )
    return False


FOLDED = Bound(4, "variables to see that a number is known", hides=False)


def is_folded(site: Site, node: ast.expr, depth: int = FOLDED.most) -> bool:
    """True for numbers made of literals and sizes by tensor operations: Dynamo knows them."""
    if all_are(site.value(node), Static, SymInt):
        return not isinstance(node, (ast.Tuple, ast.List))
    match node:
        case ast.Name() if not depth:
            FOLDED.cut()
        case ast.Name():
            values = [one.value for one in site.flow.definitions(node)]
            return bool(values) and all(v and is_folded(site, v, depth - 1) for v in values)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return bool(parts) and all(is_folded(site, part, depth) for part in parts)
        case ast.BinOp(left=left, right=right):
            return is_folded(site, left, depth) and is_folded(site, right, depth)
        case ast.UnaryOp(operand=operand):
            return is_folded(site, operand, depth)
        case ast.Call(func=ast.Attribute(value=owner), args=arguments):
            if not (site.dotted(node.func) or "").startswith("torch."):
                arguments = [owner, *arguments]
            return bool(arguments) and all(is_folded(site, part, depth) for part in arguments)
    return False


def is_for_one_dtype(site: Site, node: ast.AST) -> bool:
    """True where an earlier operand of `and`, or an `if` around, asks for an unusual dtype."""
    for outer in site.ancestors(node):
        if isinstance(outer, ast.BoolOp) and isinstance(outer.op, ast.And):
            before = outer.values[: _place(outer, node)]
            if any(_asks_dtype(leaf) for value in before for leaf in asked_of(value)):
                return True
        elif isinstance(outer, ast.If) and node in outer.body and _asks_dtype(outer.test):
            return True
        node = outer
    return False


def _place(outer: ast.BoolOp, node: ast.AST) -> int:
    return next((place for place, value in enumerate(outer.values) if value is node), 0)


def _asks_dtype(test: ast.expr) -> bool:
    """True for a test that only tensors of another element type than torch's usual one meet."""
    if not isinstance(test, ast.Compare):
        return False
    names = {part.attr for part in ast.walk(test) if isinstance(part, ast.Attribute)}
    others = isinstance(test.ops[0], _OTHERS)
    usual = bool(names & _USUAL)
    met = not usual and bool(names & (_NARROW - {"dtype"})) if others else usual
    return bool(names & _NARROW) and not met
