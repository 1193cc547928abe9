"""What a repair makes autograd keep until the backward pass: does anybody write it before?

Where the memory of a kept tensor is written, the backward pass raises. The program as found may
have kept nothing, or a copy.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import cast

from tclint.semantics.body import Body
from tclint.semantics.callees import callees, reachable
from tclint.semantics.lattice import options
from tclint.semantics.ownership import blocks_around, fate_of, is_fresh, is_nested, is_private
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes
from tclint.semantics.values import (
    BoundExternal,
    Class,
    DataScalar,
    External,
    Function,
    Object,
    Sequence,
    Static,
    SymInt,
    Value,
)
from tclint.torch_facts.memory import READING_FUNCTIONS

from ..facts.writes import ends_in_place, is_in_place, written
from .aliases import gives_result, is_let_go, is_own_result, runs_after
from .verdict import PROVED, Changes, Refused, Verdict, combine

_PLAIN = (Static, SymInt, DataScalar, External, Function, Class)
_OPENING = ("builtins.", "functools.", "operator.")
"""Where functions live that call, or reach, what their arguments name."""


def judge_kept(
    site: Site, node: ast.expr | ast.stmt, kept: Iterable[ast.expr], new: str | None
) -> Verdict:
    """Judge that nobody writes the tensors ``kept`` between ``node`` and the backward pass.

    ``new`` is the variable that holds the result of ``node`` from then on.
    """
    return combine([_judge(site, node, one, new) for one in kept])


def _judge(site: Site, node: ast.expr | ast.stmt, kept: ast.expr, new: str | None) -> Verdict:
    if is_private(site, kept):
        return PROVED
    names = [part for part in ast.walk(kept) if isinstance(part, ast.Name)]
    around = blocks_around(site, node)
    for name in names:
        if any(not blocks_around(site, store) <= around for store in site.stores(name.id)):
            return Refused(f"`{name.id}` may be a tensor that autograd cannot save")
        if any(is_nested(site, one) for one in site.body.names(name.id)):
            return Refused(f"`{name.id}` is used in a nested function, which may write to it")
    if isinstance(kept, ast.Name) and is_let_go(site, node, kept.id, new):
        return PROVED
    text = site.text(kept)
    later = runs_after(site, node, nodes(site.body.scope))
    held = {name.id for name in names}
    own = None if new is None or _is_bound_later(site, node, new) else new
    writer = next((part for part in later if _may_write(site, part, held, own)), None)
    if isinstance(writer, (ast.expr, ast.stmt)):
        told = site.text(writer).splitlines()[0]
        return Refused(f"`{told}` may write to `{text}`, which the backward pass would need")
    return Changes(f"autograd saves `{text}`: writing to it in place makes the backward pass raise")


def _is_bound_later(site: Site, node: ast.AST, name: str) -> bool:
    """True where a variable may come to hold a tensor from elsewhere."""
    later = {*runs_after(site, node, [one.node for one in site.flow.made(name)])}
    made = [one for one in site.flow.made(name) if one.node in later]
    return not all(gives_result(site, one) for one in made)


def _may_write(site: Site, part: ast.AST, held: set[str], new: str | None) -> bool:
    """True for what may write into the memory of ``held``, as far as it shows."""
    owners = [] if isinstance(part, ast.AugAssign) and _is_members(site, part) else [*written(part)]
    if isinstance(part, ast.Call):
        kinds = [*options(site.value(part.func))]
        if any(_writes_of_its_own(site, part, kind) for kind in kinds):
            return True
        if _is_opaque(part) and any(_may_be_writer(site, part, kind) for kind in kinds):
            given = [part.func, *part.args, *(keyword.value for keyword in part.keywords)]
            reached = callees(site, part)
            owners += [one for one in given if fate_of(reached, part, one) is None]
    return any(_is_foreign(site, owner, held, new) for owner in owners)


def _is_members(site: Site, statement: ast.AugAssign) -> bool:
    """True for ``outputs += (weights,)``: a tuple or list grows, and no member changes."""
    return all(isinstance(kind, Sequence) for kind in options(site.value(statement.target)))


def _is_opaque(call: ast.Call) -> bool:
    """False for ``getattr(x, "name")`` of a name that no method in place has."""
    match call:
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str() as name), *_]):
            return is_in_place(name)
    return True


def _may_be_writer(site: Site, call: ast.Call, called: Value) -> bool:
    """True for a function that may write what it is given, or give it to one that may."""
    match called:
        case Function() | Class():
            own = any(True for part in nodes(called.info.node) for _ in written(part))
            return own or any(_writers(body)[0] for body in reachable(site, call))
        case External(name=name):
            reaches = name.startswith(_OPENING) and name.rpartition(".")[2] not in READING_FUNCTIONS
            return reaches or ends_in_place(name)
        case Object(site=ast.Call(keywords=settings)):
            return any(keyword.arg == "inplace" for keyword in settings)
    return False


def _writes_of_its_own(site: Site, call: ast.Call, called: Value) -> bool:
    """True for a function that writes what its arguments do not give it: ``add = x.add_``."""
    if isinstance(called, BoundExternal):
        return isinstance(call.func, ast.Name) and ends_in_place(called.name)
    if not isinstance(called, Function):
        return False
    return _writes_elsewhere(called.info.node) or any(
        _writers(body)[1] for body in reachable(site, call)
    )


def _writers(body: Body) -> tuple[bool, bool]:
    """Whether a function writes into anything, and into what no variable of its own holds."""
    key = (_writers,)
    if key not in body.answers:
        some = any(True for part in nodes(body.scope) for _ in written(part))
        body.answers[key] = (some, some and _writes_elsewhere(body.scope))
    return cast("tuple[bool, bool]", body.answers[key])


def _writes_elsewhere(scope: ast.AST) -> bool:
    """True for a function that writes into what no variable of its own holds."""
    parts = nodes(scope)
    own = {part.arg for part in parts if isinstance(part, ast.arg)}
    own |= {n.id for n in parts if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return any(_root(one) not in own for part in parts for one in written(part))


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_plain(kind: Value) -> bool:
    """True for what is certainly no tensor; attributes of plain objects are only taken for none."""
    return isinstance(kind, _PLAIN) and not (isinstance(kind, Static) and kind.type is None)


def _is_foreign(site: Site, node: ast.expr, held: set[str], new: str | None) -> bool:
    """True for what may hold the memory of one of the variables ``held``."""
    if all(_is_plain(kind) for kind in options(site.value(node))):
        return False
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        node = node.value
    if isinstance(node, ast.Name):
        return node.id != new and (node.id in held or not is_own_result(site, node.id))
    return not isinstance(node, ast.Constant) and not is_fresh(site, node)
