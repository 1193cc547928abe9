"""What selects rows by a mask: which variables hold them, who counts them, what loops over them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.records import record
from tclint.semantics.site import Site

_COUNTS = ("numel", "nelement")
_STILL_EMPTY = ("long", "int", "flatten", "contiguous", "detach")
_KEEPS_LENGTH = frozenset("abs bool detach flatten int long reshape squeeze tolist view".split())


@record(frozen=True)
class EmptyTest:
    """An `if` that asks whether a selection is empty; ``when_empty``: its body is for that."""

    statement: ast.If
    name: str
    when_empty: bool


def is_selected(site: Site, value: ast.expr) -> bool:
    """True for what holds the places that a mask selects: ``torch.where(mask)[0].tolist()``."""
    node = value
    while not _selects(site, node):
        match node:
            case ast.Subscript(value=inner):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _KEEPS_LENGTH:
                node = inner
            case _:
                return False
    return True


def _selects(site: Site, node: ast.expr) -> bool:
    """True for ``torch.where(mask)``, ``torch.nonzero(mask)`` and ``mask.nonzero()``."""
    match node:
        case ast.Call(func=function, args=given):
            dotted = site.dotted(function)
            if dotted in ("torch.where", "torch.nonzero"):
                return len(given) == 1
            return isinstance(function, ast.Attribute) and function.attr == "nonzero"
    return False


def holders_of(site: Site, selection: ast.AST) -> frozenset[str]:
    """The variables bound to a selection, or to what `torch.where(mask)` gives, and to no more."""
    value, outer = selection, site.parent(selection)
    while outer is not None and _is_taken_from(outer, value):
        value, outer = outer, site.parent(outer)
    if not isinstance(outer, ast.Assign) or outer.value is not value or len(outer.targets) > 1:
        return frozenset()
    target = outer.targets[0]
    if value is selection and _gives_tuple(selection) and isinstance(target, ast.Name):
        return frozenset()
    names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    return frozenset(
        name.id for name in names if isinstance(name, ast.Name) and len(site.stores(name.id)) == 1
    )


def _is_taken_from(outer: ast.AST, value: ast.AST) -> bool:
    """True for `torch.where(mask)[0]`, for `mask.nonzero()[:, 0]`, and for a method's call."""
    match outer:
        case ast.Subscript(value=owner, slice=ast.Constant()):
            return owner is value and _gives_tuple(value)
        case ast.Subscript(
            value=owner, slice=ast.Tuple(elts=[ast.Slice(lower=None, upper=None), *_])
        ):
            return owner is value
        case ast.Attribute(attr=method):
            return method in _STILL_EMPTY
        case ast.Call(func=function):
            return function is value
    return False


def _gives_tuple(call: ast.AST) -> bool:
    if not isinstance(call, ast.Call):
        return False
    named = getattr(call.func, "attr", getattr(call.func, "id", ""))
    return named == "where" or any(keyword.arg == "as_tuple" for keyword in call.keywords)


def tests_of(site: Site, names: frozenset[str]) -> Iterator[EmptyTest]:
    """The `if`s whose whole test is whether one of the variables holds nothing."""
    for name in sorted(names):
        for read in site.loads(name):
            statement = next((o for o in site.ancestors(read) if isinstance(o, ast.stmt)), None)
            if isinstance(statement, ast.If):
                asked = asked_empty(statement.test)
                if asked is not None and asked[0] is read:
                    yield EmptyTest(statement, name, asked[1])


def asked_empty(test: ast.expr) -> tuple[ast.expr, bool] | None:
    """What a test asks for elements, and whether it is true where there are none."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            found = asked_empty(operand)
            return None if found is None else (found[0], not found[1])
        case ast.Compare(left=size, ops=[ast.Eq()], comparators=[ast.Constant(value=0)]):
            return _with(_counted(size), True)
        case ast.Compare(left=size, ops=[ast.Lt()], comparators=[ast.Constant(value=1)]):
            return _with(_counted(size), True)
        case ast.Compare(
            left=size, ops=[ast.Gt() | ast.NotEq()], comparators=[ast.Constant(value=0)]
        ):
            return _with(_counted(size), False)
        case ast.Compare(left=size, ops=[ast.GtE()], comparators=[ast.Constant(value=1)]):
            return _with(_counted(size), False)
    return _with(_counted(test), False)


def _with(owner: ast.expr | None, when_empty: bool) -> tuple[ast.expr, bool] | None:
    return None if owner is None else (owner, when_empty)


def _counted(size: ast.expr) -> ast.expr | None:
    """The tensor whose elements, or rows, an expression counts."""
    match size:
        case ast.Call(func=ast.Name(id="len"), args=[owner]):
            return owner
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=[]) if method in _COUNTS:
            return owner
        case ast.Call(func=ast.Attribute(value=owner, attr="size"), args=[ast.Constant(value=0)]):
            return owner
        case ast.Subscript(
            value=ast.Attribute(value=owner, attr="shape"), slice=ast.Constant(value=0)
        ):
            return owner
        case ast.Subscript(
            value=ast.Call(func=ast.Attribute(value=owner, attr="size"), args=[]),
            slice=ast.Constant(value=0),
        ):
            return owner
    return None
