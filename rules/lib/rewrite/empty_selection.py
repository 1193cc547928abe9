"""Code that is left out where a mask selects nothing: compiled code does it with no rows."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from tclint.diagnostics import Applicability, Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.site import Site

from ..facts.selections import EmptyTest, holders_of
from .proved import NO_TORCH

_MESSAGE: Final = (
    "Ask in eager code only whether anything is selected: compiled code goes on with no rows"
)
_CHANGES: Final = (
    "compiled code also runs what follows where nothing is selected: a parameter that is used "
    "there gets a gradient of zeros, not None, and running statistics take in no rows"
)
_MORE: Final = "it does more than to compute with the rows, and to write them back"
_BINDING: Final = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
_INTO_ROWS: Final = frozenset(
    "index_add_ index_copy_ index_fill_ index_put_ index_reduce_ scatter_add_".split()
)
_WITH_ROWS: Final = frozenset(name.rstrip("_") for name in _INTO_ROWS)
_NEEDS_ROWS: Final = frozenset(
    "max min amax amin aminmax argmax argmin mean median nanmean nanmedian std var quantile "
    "kthvalue mode cat stack cross_entropy mse_loss l1_loss nll_loss item".split()
)


def ask_in_eager(site: Site, test: EmptyTest, names: frozenset[str]) -> Repair | Decline:
    """Let compiled code go on where nothing is selected, if it then writes nothing."""
    body = _rest(site, test)
    if isinstance(body, Decline):
        return body
    why = _obstacle(site, body, names)
    if why:
        return Decline(why)
    spelled = site.spell("torch.compiler.is_compiling")
    if spelled is None:
        return NO_TORCH
    asked = test.statement.test
    template = f"not {spelled}() and $test" if test.when_empty else f"{spelled}() or $test"
    rewrite = Replace(asked, template, {"test": asked})
    return Repair(_MESSAGE, (rewrite,), Applicability.UNSAFE, _CHANGES)


def _rest(site: Site, test: EmptyTest) -> Sequence[ast.stmt] | Decline:
    """What runs for a selection that is not empty."""
    statement = test.statement
    if statement.orelse:
        return Decline("something else is done where nothing is selected")
    if not test.when_empty:
        return statement.body
    loop = site.parent(statement)
    if not isinstance(loop, (ast.For, ast.While)) or not _only_skips(statement.body):
        return Decline("something else is done where nothing is selected")
    place = loop.body.index(statement) if statement in loop.body else len(loop.body)
    return loop.body[place + 1 :]


def _only_skips(body: Sequence[ast.stmt]) -> bool:
    return len(body) == 1 and isinstance(body[0], ast.Continue)


def _obstacle(site: Site, body: Sequence[ast.stmt], names: frozenset[str]) -> str:
    """Why the code may do something where nothing is selected; empty where it cannot."""
    inside = {id(node) for statement in body for node in ast.walk(statement)}
    for node in (node for statement in body for node in ast.walk(statement)):
        if isinstance(node, _BINDING):
            return _MORE
        if isinstance(node, ast.Call) and _last_name(node.func) in _NEEDS_ROWS:
            return f"`{_last_name(node.func)}` of no rows is not a number, or raises"
    for statement in body:
        local = _own_names(site, statement, inside)
        if local is None or not (local or _writes_rows(statement, names)):
            return _MORE
    return ""


def writes_only_rows(site: Site, body: Sequence[ast.stmt], index: str) -> bool:
    """True where a loop over ``index`` only computes with rows that a mask at it selects."""
    names = {index}
    for statement in body:
        for selection in ast.walk(statement):
            if _is_selection(site, selection, index):
                names |= holders_of(site, selection)
    return not _obstacle(site, body, frozenset(names))


def _is_selection(site: Site, node: ast.AST, index: str) -> bool:
    if not isinstance(node, ast.Call):
        return False
    given = [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
    named = _last_name(node.func)
    return index in given and (named == "nonzero" or (named == "where" and len(node.args) == 1))


def _own_names(site: Site, statement: ast.stmt, inside: set[int]) -> bool | None:
    """True for a variable that is only read in the code itself; None where others read it."""
    if not isinstance(statement, ast.Assign):
        return False
    for target in statement.targets:
        for name in _names(target):
            if any(id(read) not in inside for read in site.loads(name.id)):
                return False
    return all(isinstance(t, (ast.Name, ast.Tuple, ast.List)) for t in statement.targets)


def _names(target: ast.expr) -> Iterator[ast.Name]:
    yield from (node for node in ast.walk(target) if isinstance(node, ast.Name))


def _writes_rows(statement: ast.stmt, names: frozenset[str]) -> bool:
    """True for a store into the selected rows, which changes nothing where there are none."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=method)) as call):
            return method in _INTO_ROWS and _at_rows(call, method, names)
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=method)) as call,
        ):
            return name == owner and method in _WITH_ROWS and _at_rows(call, method, names)
        case ast.Assign(targets=[ast.Subscript(slice=index)]):
            return _mentions(index, names)
        case ast.AugAssign(target=ast.Subscript(slice=index)):
            return _mentions(index, names)
    return False


def _at_rows(call: ast.Call, method: str, names: frozenset[str]) -> bool:
    """True where a method writes at the selected rows: `index_add_(dim, rows, source)`."""
    place = 0 if method.startswith("index_put") else 1
    return len(call.args) > place and _mentions(call.args[place], names)


def _mentions(index: ast.expr, names: frozenset[str]) -> bool:
    """True for rows, and for a mask that is taken from another at one: `masks[:, expert]`."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if any(isinstance(part, ast.Subscript) and _mentions(part.slice, names) for part in parts):
        return True
    return any(isinstance(part, ast.Name) and part.id in names for part in parts)


def _last_name(function: ast.expr) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))
