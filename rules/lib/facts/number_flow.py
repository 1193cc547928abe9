"""Follow a number through Python's arithmetic and local variables to where it is used up."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tclint.records import record
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import DataScalar, NumpyScalar, Static, SymInt

from .uses import uses_of

SAME_KIND = frozenset({"abs", "max", "min"})
_NUMBERS = (DataScalar, NumpyScalar, Static, SymInt)
TRUTH = (ast.If, ast.While, ast.Assert, ast.BoolOp, ast.comprehension)


@record(frozen=True)
class Step:
    """An operation that makes another number of the number ``use``; both are Python syntax.

    ``kind`` is ``"int"``, ``"float"`` or ``"bool"``: what ``use`` is.
    """

    use: ast.expr
    node: ast.expr
    kind: str


@record(frozen=True)
class End:
    """A use of the number that makes no other number of it: ``parent`` is the syntax around it.

    ``absolute`` is true when ``abs`` was on the way, ``lost`` says why the way could not be
    followed to its end.
    """

    use: ast.expr
    parent: ast.AST | None
    kind: str
    absolute: bool = False
    lost: str = ""


def follow(
    site: Site, uses: Iterable[ast.expr], kind: str, *, absolute: bool = False
) -> Iterator[Step | End]:
    """All steps and ends of a number that is used at ``uses``."""
    for use in uses:
        yield from _follow(site, use, kind, absolute)


def _follow(site: Site, use: ast.expr, kind: str, absolute: bool) -> Iterator[Step | End]:
    parent = site.parent(use)
    made = _makes(site, parent, use, kind)
    if made is not None:
        assert isinstance(parent, ast.expr)
        yield Step(use, parent, kind)
        yield from _follow(site, parent, made, absolute or _is_call(site, parent, "abs"))
    elif isinstance(parent, ast.Assign) and parent.value is use:
        yield from _assigned(site, use, parent, kind, absolute)
    else:
        yield End(use, parent, kind, absolute)


def _assigned(
    site: Site, use: ast.expr, statement: ast.Assign, kind: str, absolute: bool
) -> Iterator[Step | End]:
    if not isinstance(statement.targets[0], ast.Name):
        yield End(use, statement, kind, absolute)
        return
    found = uses_of(site, use)
    if found.lost:
        yield End(use, statement, kind, absolute, found.lost)
    elif statement.value not in found.nodes:
        yield from follow(site, found.nodes, kind, absolute=absolute)


def _makes(site: Site, parent: ast.AST | None, use: ast.expr, kind: str) -> str | None:
    """The kind of number that ``parent`` makes of its operand ``use``; None if it makes none."""
    match parent:
        case ast.BinOp(left=left, op=op, right=right):
            other = right if left is use else left
            if isinstance(op, ast.MatMult) or not is_plain_number(site, other):
                return None
            return _arithmetic(site, op, kind, other)
        case ast.UnaryOp(op=op):
            return "bool" if isinstance(op, ast.Not) else kind
        case ast.Compare():
            numbers = all(is_plain_number(site, n) for n in (parent.left, *parent.comparators))
            return "bool" if numbers or _in_constants(parent) else None
        case ast.IfExp(test=test):
            return None if test is use else kind
        case ast.Call(func=function) if use is not function:
            name = site.dotted(function)
            if name in SAME_KIND and all(is_plain_number(site, a) for a in parent.args):
                return kind
    return None


def _in_constants(node: ast.Compare) -> bool:
    """``k in (0, 2)``: numbers are members by equality and hash, whatever their type."""
    if len(node.ops) != 1 or not isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return False
    members = node.comparators[0]
    if not isinstance(members, (ast.Tuple, ast.List, ast.Set)):
        return False
    return all(isinstance(member, ast.Constant) for member in members.elts)


def _arithmetic(site: Site, op: ast.operator, kind: str, other: ast.expr) -> str:
    floats = isinstance(op, ast.Div) or kind == "float" or is_float(site, other)
    return "float" if floats else "int"


def is_plain_number(site: Site, node: ast.expr) -> bool:
    """True when the expression certainly is a number of Python's or numpy's."""
    if isinstance(node, (ast.List, ast.Tuple, ast.Dict, ast.Set)):
        return False
    if isinstance(node, ast.BinOp):
        return is_plain_number(site, node.left) and is_plain_number(site, node.right)
    return all(isinstance(v, _NUMBERS) for v in options(site.value(node)))


def is_float(site: Site, node: ast.expr) -> bool:
    """True for a number that is a float, and for what is computed with one."""
    if isinstance(node, ast.BinOp):
        halves = is_float(site, node.left) or is_float(site, node.right)
        return isinstance(node.op, ast.Div) or halves
    kinds = {getattr(value, "type", None) for value in options(site.value(node))}
    return "float" in kinds


def _is_call(site: Site, node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Call) and site.dotted(node.func) == name


def is_truth_test(end: End) -> bool:
    """True where Python decides on the number."""
    if isinstance(end.parent, ast.IfExp):
        return end.parent.test is end.use
    if isinstance(end.parent, ast.comprehension):
        return end.use in end.parent.ifs
    return isinstance(end.parent, TRUTH)


def index_around(site: Site, node: ast.expr) -> ast.Subscript | None:
    """The subscript that ``node`` is the index of, or a part of the index of."""
    inner, outer = node, site.parent(node)
    while isinstance(outer, (ast.Slice, ast.Tuple)):
        inner, outer = outer, site.parent(outer)
    return outer if isinstance(outer, ast.Subscript) and outer.slice is inner else None


def call_around(site: Site, node: ast.expr) -> ast.Call | None:
    """The call that ``node`` is an argument of, alone or inside a tuple or list."""
    outer = site.parent(node)
    while isinstance(outer, (ast.keyword, ast.Tuple, ast.List, ast.Starred)):
        outer = site.parent(outer)
    return outer if isinstance(outer, ast.Call) else None
