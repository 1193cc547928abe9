"""What code does for a mask that selects nothing: may it run with no rows, as if it had not run?"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from tclint.records import record
from tclint.semantics.site import Site
from tclint.semantics.syntax import last_name

from ..facts.known import certain_tensor, is_boolean, is_parameter
from ..facts.reaching import block_of
from ..facts.selections import holders_of, selection_in

_MORE: Final = "it does more than compute with the rows and write them back"
_BINDING: Final = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
_INTO_ROWS: Final = frozenset(
    "index_add_ index_copy_ index_fill_ index_put_ index_reduce_ scatter_add_".split()
)
_WITH_ROWS: Final = frozenset(name.rstrip("_") for name in _INTO_ROWS)
_NEEDS_ROWS: Final = frozenset(
    "max min amax amin aminmax argmax argmin mean median nanmean nanmedian std var quantile "
    "kthvalue mode cat stack cross_entropy mse_loss l1_loss nll_loss item".split()
)


@record(frozen=True)
class Rows:
    """The variables that hold what a mask selects; a mask at ``index`` selects for one round."""

    names: frozenset[str]
    index: str = ""


def rows_of_round(site: Site, loop: ast.For) -> Rows | None:
    """What a round of a loop selects by masks at its variable; None where others read that."""
    if not isinstance(loop.target, ast.Name):
        return None
    index = loop.target.id
    inside = {id(node) for statement in loop.body for node in ast.walk(statement)}
    if any(id(read) not in inside for read in site.loads(index)):
        return None
    names: frozenset[str] = frozenset()
    for node in (node for statement in loop.body for node in ast.walk(statement)):
        found = selection_in(site, node)
        if found is not None and _reads(found.mask, index):
            names |= holders_of(site, node)
    return Rows(names, index)


def trace_of(site: Site, body: Sequence[ast.stmt], rows: Rows) -> str:
    """Why code may leave a trace where nothing is selected; empty where it cannot."""
    for node in (node for statement in body for node in ast.walk(statement)):
        if isinstance(node, _BINDING):
            return _MORE
        if isinstance(node, ast.Call) and last_name(node.func) in _NEEDS_ROWS:
            return f"`{last_name(node.func)}` of no rows is NaN, or raises"
    inside = {id(node) for statement in body for node in ast.walk(statement)}
    idle = (
        _writes_rows(site, one, rows) or _is_own(site, one, inside) or _goes_on(one)
        for one in _flat(body)
    )
    return "" if all(idle) else _MORE


def _flat(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements, and those of every `if`: what leaves no trace may run or not."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _flat([*statement.body, *statement.orelse])
        else:
            yield statement


def _goes_on(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Continue, ast.Pass))


def _is_own(site: Site, statement: ast.stmt, inside: set[int]) -> bool:
    """True for variables that only the code itself reads, always after it has bound them."""
    if not isinstance(statement, ast.Assign):
        return False
    targets = [one for target in statement.targets for one in members_of(target)]
    return all(
        isinstance(one, ast.Name)
        and not is_parameter(site, one.id)
        and all(_is_bound_inside(site, read, inside) for read in site.loads(one.id))
        for one in targets
    )


def _is_bound_inside(site: Site, read: ast.Name, inside: set[int]) -> bool:
    """True where a statement of the code, before the read, certainly binds its variable."""
    if id(read) not in inside:
        return False
    inner: ast.AST = read
    for outer in site.ancestors(read):
        if isinstance(inner, ast.stmt) and id(inner) in inside:
            block = block_of(site, inner)
            before = [one for one in block[: block.index(inner)] if id(one) in inside]
            if any(_binds(one, read.id) for one in before):
                return True
        inner = outer
    return False


def _binds(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.Assign(targets=targets):
            members = [one for target in targets for one in members_of(target)]
            return any(isinstance(one, ast.Name) and one.id == name for one in members)
    return False


def members_of(target: ast.expr) -> list[ast.expr]:
    """What an assignment gives a value: the members of a tuple, or the one target."""
    return target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]


def _writes_rows(site: Site, statement: ast.stmt, rows: Rows) -> bool:
    """True for a store into the selected rows, which changes nothing where there are none."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=method)) as call):
            return method in _INTO_ROWS and _at_rows(site, call, method, rows)
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=method)) as call,
        ):
            return name == owner and method in _WITH_ROWS and _at_rows(site, call, method, rows)
        case ast.Assign(targets=[ast.Subscript(slice=index)]):
            return _selects(site, index, rows)
        case ast.AugAssign(target=ast.Subscript(slice=index)):
            return _selects(site, index, rows)
    return False


def _at_rows(site: Site, call: ast.Call, method: str, rows: Rows) -> bool:
    """True where a method writes at the selected rows: `index_add_(dim, rows, source)`."""
    place = 0 if method.startswith("index_put") else 1
    return len(call.args) > place and _selects(site, call.args[place], rows)


def _selects(site: Site, index: ast.expr, rows: Rows) -> bool:
    """True for rows, for what is taken at them, and for a mask that is taken at the index."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(_selects_by(site, part, rows) for part in parts)


def _selects_by(site: Site, part: ast.expr, rows: Rows) -> bool:
    match part:
        case ast.Name(id=name):
            return name in rows.names
        case ast.Subscript(slice=inner):
            at_index = bool(rows.index) and _reads(inner, rows.index)
            return _selects(site, inner, rows) or (at_index and is_certain_mask(site, part))
    return False


def is_certain_mask(site: Site, node: ast.expr) -> bool:
    """True for an expression that is a boolean tensor for certain."""
    tensor = certain_tensor(site, node)
    return tensor is not None and is_boolean(tensor)


def _reads(node: ast.expr, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))
