"""Places where a number leaves the function for code that needs a Python number."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator

from tclint.semantics.site import Site
from tclint.semantics.symbols import FunctionNode, ModuleInfo

from .annotated import holds_numbers
from .reaching import reads_that_may_see
from .uses import uses_of

_Place = tuple[int | None, ...]
_TAKE_ANYTHING = {"copy", "functools", "logging", "typing", "warnings"}
_NEEDS_NUMBERS = (sys.stdlib_module_names - _TAKE_ANYTHING) | {"numpy", "isinstance"}


_SIZED = frozenset(
    "arange empty expand full get interpolate linspace narrow new_empty new_full new_ones "
    "new_zeros ones pad repeat reshape setdefault split unflatten upsample view zeros".split()
)
"""Functions and methods, of torch and of dicts, that need a number's value or its hash."""


def why_expected(site: Site, use: ast.expr) -> str:
    """Why the number at ``use``, returned or put into a collection there, cannot be a tensor."""
    return _why(site, use, (), set())


def _why(site: Site, node: ast.expr, place: _Place, seen: set[ast.AST]) -> str:
    parent = site.parent(node)
    if node in seen:
        return ""
    seen.add(node)
    match parent:
        case ast.Return():
            return _returned(site, place)
        case ast.Starred() if isinstance(site.parent(parent), ast.Call):
            return "the number is unpacked into the arguments of a call"
        case ast.IfExp(body=body, orelse=orelse) if node in (body, orelse):
            return _why(site, parent, place, seen)
        case ast.Tuple(elts=members) | ast.List(elts=members) if node in members:
            position = members.index(node) if isinstance(parent, ast.Tuple) else None
            place = (position, *place)
            return _why(site, parent, place, seen)
        case ast.Dict():
            return _why(site, parent, (1, *place), seen)
        case ast.Assign() | ast.AnnAssign() if place:
            reasons = (_why(site, later, place, seen) for later in _read_later(site, node))
            return next(filter(None, reasons), "")
    return ""


def _read_later(site: Site, collection: ast.expr) -> Iterable[ast.expr]:
    """Where a collection is read that a variable was given."""
    statement = site.parent(collection)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            uses = uses_of(site, collection)
            return reads_that_may_see(site, statement, name) if uses.lost else uses.nodes
    return ()


def _returned(site: Site, place: _Place) -> str:
    scope = site.body.scope
    if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if scope.returns is not None and holds_numbers(scope.returns, place):
            return f"`{scope.name}` is declared to return Python numbers"
        taker = "" if place else next(_takers(site.module, scope), "")
        if taker:
            return f"a caller gives what `{scope.name}` returns to `{taker}`"
    return ""


def _takers(module: ModuleInfo, function: FunctionNode) -> Iterator[str]:
    """The functions of Python's library that callers in the same file give a result to."""
    name = getattr(function, "name", "")
    for caller in ast.walk(module.tree):
        if not isinstance(caller, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        kept = {target for node in ast.walk(caller) for target in _kept(node, name)}
        for node in ast.walk(caller):
            if isinstance(node, ast.Call):
                dotted = _dotted(module, node.func)
                needed = dotted.partition(".")[0] in _NEEDS_NUMBERS or _is_sized(node.func)
                if needed and any(_is_result(a, name, kept) for a in _given(node)):
                    yield dotted or ast.unparse(node.func)
            elif isinstance(node, ast.Subscript) and _is_result(node.slice, name, kept):
                yield f"{ast.unparse(node.value)}[...]"


def _given(call: ast.Call) -> Iterator[ast.expr]:
    """The arguments of a call, and the members of tuples and lists among them."""
    for given in (*call.args, *(keyword.value for keyword in call.keywords)):
        yield from given.elts if isinstance(given, (ast.Tuple, ast.List)) else [given]


def _is_sized(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr in _SIZED


def _kept(node: ast.AST, function: str) -> Iterator[str]:
    match node:
        case ast.Assign(targets=[ast.Name(id=target)], value=value):
            if any(_calls(part, function) for part in ast.walk(value)):
                yield target


def _is_result(argument: ast.expr, function: str, kept: set[str]) -> bool:
    if isinstance(argument, ast.Name):
        return argument.id in kept
    return _calls(argument, function)


def _calls(node: ast.AST, function: str) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name == function
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name)):
            return name == function
    return False


def _dotted(module: ModuleInfo, node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or (parts and node.id not in module.imports):
        return ""
    return ".".join([module.imports.get(node.id, node.id), *reversed(parts)])
