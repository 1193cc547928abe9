"""The functions of the project that a call reaches, as places where questions can be asked."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final, cast

from tclint.semantics.body import Body
from tclint.semantics.collect import meaning_several
from tclint.semantics.lattice import options
from tclint.semantics.records import record
from tclint.semantics.site import Facts, Site
from tclint.semantics.syntax import nodes, own_nodes
from tclint.semantics.values import Function, Object, Tensor, Value

_PLAIN: Final = frozenset({"staticmethod", "torch.no_grad", "torch.enable_grad"})
"""Decorators that leave to a function what it is given and what it returns."""
_DELAYED: Final = (ast.Yield, ast.YieldFrom, ast.Await)


@record(frozen=True)
class Callee:
    """A function that a call reaches; the call does not pass its first ``hidden`` parameters.

    ``open`` is true for a method, of which a class of somebody else may have another.
    """

    site: Site
    hidden: int
    open: bool

    def parameter(self, call: ast.Call, given: ast.expr) -> str | None:
        """The parameter that an argument is passed for; None where that is not plain to see."""
        spec = _signature(self.site)
        named = [one.arg for one in (*spec.args, *spec.kwonlyargs)]
        for keyword in call.keywords:
            if keyword.value is given:
                return keyword.arg if keyword.arg in named[self._unseen(spec) :] else None
        names = [one.arg for one in (*spec.posonlyargs, *spec.args)][self.hidden :]
        for place, argument in enumerate(call.args):
            if isinstance(argument, ast.Starred):
                return None
            if argument is given:
                return names[place] if place < len(names) else None
        return None

    def _unseen(self, spec: ast.arguments) -> int:
        return max(self.hidden - len(spec.posonlyargs), 0)

    def returned(self) -> list[ast.expr]:
        """What it may return, None aside."""
        scope = self.site.body.scope
        if isinstance(scope, ast.Lambda):
            return [scope.body]
        inside = own_nodes(scope)
        return [one.value for one in inside if isinstance(one, ast.Return) and one.value]


def callees(site: Site, call: ast.Call) -> list[Callee]:
    """All functions that a call may reach, each run at once as it is written; else none."""
    found: list[Callee] = []
    if call in site.body.contested or not _is_one_thing(site.body, call.func):
        return []
    for kind in options(site.value(call.func)):
        reached = [*_reached(site, call, kind)]
        if not reached:
            return []
        found += reached
    return found


def _callee(site: Site, body: Body, hidden: int) -> Callee:
    at = body.scope.body[0] if isinstance(body.scope, ast.FunctionDef) else site.statement
    inside = Site(body, site.region, at, Facts(), (), site.settings)
    return Callee(inside, hidden, body.function is not None and body.function.cls is not None)


def reachable(site: Site, call: ast.Call) -> Iterator[Body]:
    """The functions that a call is seen to reach, by way of others, too."""
    found = dict.fromkeys(site.body.called.get(call, ()))
    pending = [*found]
    while pending:
        body = pending.pop()
        yield body
        inner = {one for reached in body.called.values() for one in reached if one not in found}
        found.update(dict.fromkeys(inner))
        pending += inner


def _reached(site: Site, call: ast.Call, kind: Value) -> Iterator[Callee]:
    for body, hidden in site.body.called.get(call, {}).items():
        function = body.function
        if function is None or not _is_plain(body):
            continue
        if isinstance(kind, Function):
            meant = kind.info is function
        else:
            modules = isinstance(kind, Object) and kind.is_module and kind.cls is not None
            meant = modules and function.name == "forward"
        if meant:
            callee = _callee(site, body, hidden)
            if _has_seen(callee, site, call):
                yield callee


def _has_seen(callee: Callee, site: Site, call: ast.Call) -> bool:
    """True where the values known in a function are those of this call, too.

    A function that is called with much that differs was only looked at with some of it.
    """
    for given in (*call.args, *(keyword.value for keyword in call.keywords)):
        name = callee.parameter(call, given)
        first = _first_read(callee.site, name) if name is not None else None
        if first is not None:
            known = [*options(callee.site.value(first))]
            if not all(_is_among(kind, known) for kind in options(site.value(given))):
                return False
    return True


def _first_read(site: Site, name: str) -> ast.Name | None:
    """Where a parameter is read first, if nothing else was bound to it before."""
    read = next(iter(site.loads(name)), None)
    earlier = (store for store in site.stores(name) if read is None or store.lineno < read.lineno)
    return read if next(earlier, None) is None else None


def _is_among(kind: Value, known: list[Value]) -> bool:
    alike = [one for one in known if type(one) is type(kind)]
    if not isinstance(kind, Tensor):
        return bool(alike)
    return any(
        isinstance(one, Tensor)
        and one.dtype in (None, kind.dtype)
        and one.rank in (None, kind.rank)
        for one in alike
    )


def _is_plain(body: Body) -> bool:
    """True for a function that runs as it is written, when it is called."""
    scope, function = body.scope, body.function
    if not isinstance(scope, (ast.FunctionDef, ast.Lambda)) or function is None:
        return False
    written = 0 if isinstance(scope, ast.Lambda) else len(scope.decorator_list)
    known = len(function.decorators) == written and _PLAIN.issuperset(function.decorators)
    known = known and ("." in function.qualname or function.name not in _several(body))
    return known and not any(isinstance(node, _DELAYED) for node in nodes(scope))


def _is_one_thing(body: Body, function: ast.expr) -> bool:
    """False for a name to which the file gives one meaning or another."""
    while isinstance(function, ast.Attribute):
        function = function.value
    if not isinstance(function, ast.Name) or function.id not in _several(body):
        return True
    return body.binds(function.id) or body.assigns(function.id)


def _several(body: Body) -> frozenset[str]:
    key = (_several,)
    if key not in body.answers:
        body.answers[key] = meaning_several(body.module)
    return cast("frozenset[str]", body.answers[key])


def _signature(site: Site) -> ast.arguments:
    scope = site.body.scope
    assert not isinstance(scope, ast.Module)
    return scope.args
