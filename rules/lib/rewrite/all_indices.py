"""``for i in counts.nonzero()``: a loop over what is there becomes one over all indices."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Applicability
from tclint.lint.rewrite import Repair, Replace, Rewrite
from tclint.semantics.site import Site
from tclint.semantics.values import Object

from ..facts.uses import is_parameter
from ..judge.arguments import certain_tensor
from ..judge.promotion import is_boolean
from .builtin_names import builtin
from .selected_rows import counts_rows, selected_by, targets_of

_MESSAGE: Final = "Loop over all indices: what selects nothing changes nothing"
_SAME: Final = frozenset("flatten squeeze tolist view".split())


def loop_over_all(site: Site, call: ast.expr) -> Repair | None:
    """Count with `range` where a loop adds nothing for the indices that ``call`` leaves out."""
    made, value = _made(site, call)
    counted = _counted(site, call)
    name = made.targets[0].id if made and isinstance(made.targets[0], ast.Name) else ""
    loop = _loop(site, name) if name else None
    spelled = builtin(site, "range")
    if loop is None or counted is None or value is None or not isinstance(spelled, tuple):
        return None
    index = loop.target.id if isinstance(loop.target, ast.Name) else ""
    taken = _taken_out(site, loop, index) if _gives_rows(call, value) else []
    if not index or taken is None or not _is_idle(site, loop, index):
        return None
    parts: dict[str, ast.expr | ast.stmt] = {"counted": counted}
    counting = Replace(value, f"{spelled[0]}($counted.shape[0])", parts)
    what = (
        f"the loop runs for all indices: the fix assumes that `{site.text(counted)}` counts what "
        "it selects, and parameters that were not used get a gradient of zero instead of none"
    )
    return Repair(_MESSAGE, (counting, *taken), Applicability.UNSAFE, what)


def _gives_rows(call: ast.expr, value: ast.expr) -> bool:
    """True where the loop gets rows of one index each, as `nonzero` gives them."""
    if value is not call or not isinstance(call, ast.Call):
        return False
    return not any(ast.unparse(keyword) == "as_tuple=True" for keyword in call.keywords)


def _taken_out(site: Site, loop: ast.For, index: str) -> list[Rewrite] | None:
    """How the body takes the index out of its row, to be left out; None where it does more."""
    first = loop.body[0]
    if _is_row(first, index):
        return [Replace(first, "")]
    rewrites: list[Rewrite] = []
    for load in site.loads(index):
        outer = site.parent(load)
        match outer:
            case ast.Subscript(value=inner, slice=ast.Constant(value=0)) if inner is load:
                rewrites.append(Replace(outer, index))
            case ast.Subscript(value=whole, slice=inner) if inner is load:
                dropped = _squeezed(site, outer)
                if dropped is None and not isinstance(site.value(whole), Object):
                    return None
                if dropped is not None:
                    rewrites.append(Replace(dropped, "$part", {"part": outer}))
            case _:
                return None
    return rewrites


def _squeezed(site: Site, part: ast.Subscript) -> ast.Call | None:
    """The call of ``mask[i].squeeze(0)``."""
    method = site.parent(part)
    call = site.parent(method) if isinstance(method, ast.Attribute) else None
    match call:
        case ast.Call(func=ast.Attribute(attr="squeeze"), args=[ast.Constant(value=0)]):
            return call
    return None


def _made(site: Site, call: ast.expr) -> tuple[ast.Assign | None, ast.expr | None]:
    """The assignment of the indices, and its value."""
    node: ast.expr = call
    while True:
        match site.parent(node):
            case ast.Assign(targets=[ast.Name()]) as made:
                return made, node
            case ast.Subscript(value=inner, slice=ast.Constant(value=0)) as outer if inner is node:
                node = outer
            case ast.Attribute(value=inner, attr=attr) as method if inner is node and attr in _SAME:
                called = site.parent(method)
                if not isinstance(called, ast.Call) or called.func is not method:
                    return None, None
                node = called
            case _:
                return None, None


def _counted(site: Site, call: ast.expr) -> ast.expr | None:
    """What has one element for each index, in its first dimension."""
    counts = selected_by(site, call)
    if counts is None and isinstance(call, ast.Call):
        counts = _rows_of(site, call)
    match counts:
        case ast.Compare(left=left, ops=[ast.Gt() | ast.NotEq()], comparators=[ast.Constant()]):
            counts = left
        case ast.Call(func=function, args=[left, ast.Constant(value=0)]) if site.dotted(
            function
        ) in ("torch.greater", "torch.gt"):
            counts = left
    match counts:
        case ast.Call(
            func=ast.Attribute(value=whole, attr="sum" | "any"),
            args=[],
            keywords=[ast.keyword(arg="dim", value=dims)],
        ) if _are_last(dims):
            return whole if isinstance(whole, ast.Name) else None
    return counts if isinstance(counts, ast.Name) else None


def _rows_of(site: Site, call: ast.Call) -> ast.expr | None:
    """The tensor of ``x.nonzero()``, whose rows are the indices."""
    plain = not call.keywords or ast.unparse(call.keywords[0]) == "as_tuple=False"
    if not plain:
        return None
    if site.dotted(call.func) == "torch.nonzero":
        return call.args[0] if len(call.args) == 1 else None
    named = isinstance(call.func, ast.Attribute) and call.func.attr == "nonzero"
    return call.func.value if named and isinstance(call.func, ast.Attribute) else None


def _are_last(dims: ast.expr) -> bool:
    given = dims.elts if isinstance(dims, (ast.Tuple, ast.List)) else [dims]
    return all(
        isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.USub) for one in given
    ) and bool(given)


def _loop(site: Site, name: str) -> ast.For | None:
    """The one loop that a variable is for."""
    loads = site.loads(name)
    loop = site.parent(loads[-1]) if loads else None
    others = [load for load in loads[:-1] if not _is_before(site, load, name)]
    alone = isinstance(loop, ast.For) and loop.iter is loads[-1] and not loop.orelse
    return loop if alone and not others and isinstance(loop, ast.For) else None


def _is_before(site: Site, load: ast.Name, name: str) -> bool:
    """True for a read while the variable still holds what is counted."""
    last = site.stores(name)[-1]
    return load.lineno <= getattr(site.parent(last), "end_lineno", 0) and not site.facts.loops


def _is_row(statement: ast.stmt, index: str) -> bool:
    """True for ``i = i[0]``, which takes the index out of a row."""
    match statement:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Subscript(value=ast.Name(id=read), slice=ast.Constant(value=0)),
        ):
            return name == read == index
    return False


def _is_idle(site: Site, loop: ast.For, index: str) -> bool:
    """True where the loop only adds to, or stores, what ``index`` selects from a mask."""
    rows: set[str] = set()
    sinks = 0
    inside = {id(part) for part in ast.walk(loop)}
    for statement in _flat(loop.body):
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(), ast.Name()] as names)]) if (
                mask := selected_by(site, statement.value)
            ) and _is_of(mask, index):
                rows |= {name.id for name in names if isinstance(name, ast.Name)}
            case ast.Assign(targets=[ast.Subscript(slice=mask)]) if _is_of(mask, index):
                sinks += _is_certain_mask(site, mask)
                if not _is_certain_mask(site, mask):
                    return False
            case ast.Assign(targets=targets):
                names = [t for one in targets for t in targets_of(one)]
                if not all(_is_local(site, name, inside) for name in names):
                    return False
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(attr="index_add_"),
                    args=[ast.Constant(value=0), ast.Name(id=name), _],
                )
            ) if name in rows:
                sinks += 1
            case ast.If(test=test, body=[ast.Continue()], orelse=[]):
                if not (counts_rows(test, rows, ast.Eq) or _asks(test, index)):
                    return False
            case _:
                return False
    return sinks > 0


def _flat(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements, with those of every `if`: what changes nothing may run or not."""
    flat: list[ast.stmt] = []
    for statement in body:
        match statement:
            case ast.If(body=[ast.Continue()]):
                flat.append(statement)
            case ast.If(body=inner, orelse=[]):
                flat += _flat(inner)
            case _:
                flat.append(statement)
    return flat


def _asks(test: ast.expr, index: str) -> bool:
    """True for ``i == n``: only for some indices, whatever is selected."""
    match test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Eq()]):
            return name == index
    return False


def _is_of(mask: ast.expr, index: str) -> bool:
    """True for a part of a tensor that ``index`` chooses."""
    names = {part.id for part in ast.walk(mask) if isinstance(part, ast.Name)}
    return index in names


def _is_certain_mask(site: Site, mask: ast.expr) -> bool:
    tensor = certain_tensor(site, mask)
    return tensor is not None and is_boolean(tensor)


def _is_local(site: Site, target: ast.expr, inside: set[int]) -> bool:
    """True for a variable that only the loop reads."""
    if not isinstance(target, ast.Name) or is_parameter(site, target.id):
        return False
    return all(id(load) in inside for load in site.loads(target.id))
