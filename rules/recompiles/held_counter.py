"""TCL231: compiled code counts in what a variable of the file holds."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.bounds import Bound
from tclint.semantics.events import NumberCounted
from tclint.semantics.flow import Definition
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.symbols import parameters_of
from tclint.semantics.values import UNKNOWN, Class, Mapping, Object, Sequence, Static, Value

from .attributes import is_integer_literal

STEPS: Final = Bound(6, "names, loops and calls to what holds a number")


class HeldCounter(Rule[NumberCounted]):
    """Compiled code counts in a list, dict or object that a global variable holds."""

    code = "TCL231"
    name = "held-counter-in-region"
    summary = "Counting in what a global variable holds recompiles on each call"
    instead = "Count where the compiled function is called, or keep the number in a tensor"
    on = NumberCounted
    effects = (Effect.RECOMPILE,)

    def check(self, event: NumberCounted) -> Finding | None:
        """Look for an integer that is reached from a variable of a file."""
        site, target = event.site, event.target
        if not site.facts.recurs:
            return None
        owner = site.value(target.value)
        if any(_is_told_elsewhere(kind) for kind in options(owner)) or not _are_whole(
            site.value(event.step)
        ):
            return None
        sure = _are_whole(event.value)
        if not sure and not (event.value is UNKNOWN and _starts_whole(site, target)):
            return None
        if not _is_held_by_global(site, target, STEPS.most):
            return None
        return Finding(
            f"`{site.text(target)}` is compiled in as a constant: each call with a new value "
            "recompiles",
            Advice("count where the compiled function is called, or in a tensor"),
            confidence=None if sure else Confidence.MEDIUM,
        )


def _is_told_elsewhere(owner: Value) -> bool:
    """True for modules and classes, and for an optimizer itself, of which Dynamo knows better."""
    if isinstance(owner, Object):
        return owner.is_module or owner.is_optimizer
    return isinstance(owner, Class)


def _are_whole(value: Value) -> bool:
    """True for integers, as far as the value is known: what is written back may not be."""
    known = [kind for kind in options(value) if kind is not UNKNOWN]
    return bool(known) and all(isinstance(one, Static) and one.type == "int" for one in known)


def _starts_whole(site: Site, target: ast.Attribute | ast.Subscript) -> bool:
    """True where the file gives the key an integer, and nothing else: ``dict(lr=lr, step=0)``."""
    key = target.slice if isinstance(target, ast.Subscript) else None
    if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
        return False
    starts = [start for node in ast.walk(site.module.tree) for start in _given(node, key.value)]
    return bool(starts) and all(map(is_integer_literal, starts))


def _given(node: ast.AST, key: str) -> list[ast.expr]:
    """What a node gives a key of a dict."""
    match node:
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            return [one.value for one in keywords if one.arg == key]
        case ast.Call(
            func=ast.Attribute(attr="setdefault"), args=[ast.Constant(value=name), start]
        ) if name == key:
            return [start]
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return [v for k, v in pairs if isinstance(k, ast.Constant) and k.value == key]
        case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=name))], value=start) if (
            name == key and not isinstance(start, ast.BinOp)
        ):
            return [start]
    return []


def _is_held_by_global(site: Site, node: ast.expr, depth: int) -> bool:
    """True for what is part of a global variable's value, through names, loops and calls."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    if not isinstance(node, ast.Name):
        return False
    if not depth:
        STEPS.cut()
        return False
    made = [one for one in site.flow.definitions(node) if not isinstance(one.node, ast.arg)]
    if made:
        sources = map(_source, made)
        return all(one is not None and _is_held_by_global(site, one, depth - 1) for one in sources)
    if any(node.id == argument for argument in _parameters(site)):
        return any(
            _is_held_by_global(caller, given, depth - 1)
            for caller, given in [*site.given(node.id), *_receivers(site, node.id)]
        )
    module = site.module
    known = node.id in module.assigned or node.id in module.imports
    held = all(isinstance(kind, (Mapping, Object, Sequence)) for kind in options(site.value(node)))
    return known and held and not site.body.binds(node.id)


def _source(made: Definition) -> ast.expr | None:
    """What a loop draws a variable from, or what it is assigned."""
    match made.node:
        case ast.For(iter=source) | ast.Assign(value=source):
            return made.value or source
    return None


def _parameters(site: Site) -> list[str]:
    return [one.arg for one, _ in parameters_of(site.function.node)] if site.function else []


def _receivers(site: Site, name: str) -> list[tuple[Site, ast.expr]]:
    """What the calls in compiled code call a method on, for its first parameter."""
    if next(iter(_parameters(site)), None) != name:
        return []
    return [
        (caller, call.func.value)
        for call, (caller, hidden) in site.body.calls.items()
        if hidden and isinstance(call.func, ast.Attribute)
    ]
