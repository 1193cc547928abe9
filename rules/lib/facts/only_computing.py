"""Does a function do nothing but compute? It writes what it made, and neither draws nor prints."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.semantics.callees import callees
from tclint.semantics.lattice import options
from tclint.semantics.ownership import is_fresh, is_unshared, read_into
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes
from tclint.semantics.values import Static, Tensor
from tclint.torch_facts.memory import (
    ALLOCATING_FUNCTIONS,
    ALLOCATING_METHODS,
    READING_METHODS,
    VIEW_METHODS,
    WRITING_NOTHING,
)

from .known import is_parameter

_DRAWING: Final = ("bernoulli", "multinomial", "normal", "poisson", "rand")
_FUNCTIONS: Final = frozenset(
    [
        *(ALLOCATING_FUNCTIONS | WRITING_NOTHING),
        *(
            f"torch.{name}"
            for name in ("Size", "_assert_async", "finfo", "iinfo", "is_tensor", "numel")
        ),
        *(f"torch.nn.functional.{n}" for n in ("interpolate", "max_pool1d", "max_pool2d")),
        "torch.compiler.is_compiling",
        *(f"numpy.{name}" for name in ("ceil", "exp", "floor", "log", "prod", "sqrt")),
    ]
)
_FILLING: Final = frozenset(
    "add clamp copy div fill index_add index_copy index_fill index_put masked_fill masked_scatter "
    "mul scatter scatter_add sub zero".split()
)
_METHODS: Final = ALLOCATING_METHODS | READING_METHODS | VIEW_METHODS | {f"{n}_" for n in _FILLING}
_BUILTINS: Final = frozenset(
    "abs all any bool enumerate float int isinstance len list max min range reversed round sorted "
    "sum tuple zip".split()
)
_REFUSED: Final = (
    ast.AsyncFor, ast.AsyncFunctionDef, ast.AsyncWith, ast.Await, ast.ClassDef, ast.FunctionDef,
    ast.Global, ast.Import, ast.ImportFrom, ast.Lambda, ast.Nonlocal, ast.Try, ast.While, ast.With,
    ast.Yield, ast.YieldFrom,
)  # fmt: skip
_PLAIN: Final = (*("NoneType", "bool", "float", "int", "str"), None)


def only_computes_itself(site: Site) -> bool:
    """True for a function of the file that gives its result, and does nothing else."""
    key, answers = (only_computes_itself,), site.body.answers
    if key not in answers:
        answers[key] = False  # for one that calls itself
        answers[key] = all(_is_quiet(site, node) for node in _inside(site))
    return bool(answers[key])


def _inside(site: Site) -> Iterator[ast.AST]:
    scope = site.body.scope
    return (node for node in nodes(scope) if node is not scope)


def _is_quiet(site: Site, node: ast.AST) -> bool:
    match node:
        case ast.Call():
            return _is_quiet_call(site, node)
        case ast.Attribute(ctx=ast.Load()):
            return True
        case ast.Attribute():
            return False
        case ast.Subscript(ctx=ast.Store() | ast.Del()):
            return _is_own(site, node)
        case ast.Name(ctx=ast.Load()):
            return _is_known(site, node)
    return not isinstance(node, _REFUSED)


def _is_own(site: Site, target: ast.expr) -> bool:
    """True for a part of what a variable of the function holds."""
    while isinstance(target, (ast.Attribute, ast.Subscript)):
        target = target.value
    return isinstance(target, ast.Name) and _is_variable(site, target)


def _is_variable(site: Site, name: ast.Name) -> bool:
    return bool(site.stores(name.id)) or is_parameter(site, name.id)


def _is_known(site: Site, name: ast.Name) -> bool:
    """True for a variable of the function, and for what no other function changes."""
    module = site.module
    if _is_variable(site, name) or name.id in {*module.functions, *module.imports}:
        return True
    if site.dotted(name) == name.id and name.id not in module.assigned | module.classes:
        return True
    kinds = [*options(site.value(name))]
    return all(isinstance(kind, Static) and kind.type in _PLAIN[:-1] for kind in kinds)


def _is_quiet_call(site: Site, call: ast.Call) -> bool:
    if any(keyword.arg in (None, "out", "inplace", "key") for keyword in call.keywords):
        return False
    dotted = site.dotted(call.func) or ""
    if _draws(dotted.rpartition(".")[2]):
        return False
    if dotted in _FUNCTIONS or dotted.startswith("math.") or dotted in _BUILTINS:
        return True
    if isinstance(site.parent(call), ast.Raise):
        return dotted.endswith("Error") and "." not in dotted
    method = call.func
    if isinstance(method, ast.Attribute) and _is_tensor(site, method.value):
        return method.attr in _METHODS and not _draws(method.attr)
    reached = callees(site, call)
    return bool(reached) and all(not one.open and only_computes_itself(one.site) for one in reached)


def _draws(name: str) -> bool:
    return any(name.startswith(start) for start in _DRAWING)


def _is_tensor(site: Site, node: ast.expr) -> bool:
    return all(isinstance(kind, Tensor) for kind in options(site.value(node)))


def keeps_arguments(site: Site, name: str) -> bool:
    """True for a parameter whose tensor is neither written nor returned, under any name.

    What is bound anew for good, to a tensor of its own, may be written from there on.
    """
    pending, seen = [name], {name}
    while pending:
        variable = pending.pop()
        if not is_unshared(site, variable):
            return False
        for occurrence in _until_bound_anew(site, variable):
            shared = read_into(site, occurrence) if _is_read(occurrence) else frozenset()
            updated = isinstance(site.parent(occurrence), ast.AugAssign) and not _is_read(
                occurrence
            )
            if shared is None or updated or "return" in shared:
                return False
            pending += shared - seen
            seen |= shared
    return True


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _until_bound_anew(site: Site, name: str) -> list[ast.Name]:
    """The occurrences up to a statement of the function itself that makes a new tensor."""
    found = site.body.names(name)
    scope = site.body.scope
    for statement in scope.body if isinstance(scope, ast.FunctionDef) else []:
        match statement:
            case ast.Assign(targets=[ast.Name(id=bound)], value=value) if (
                bound == name and is_fresh(site, value)
            ):
                end = statement.end_lineno or statement.lineno
                return [one for one in found if one.lineno <= end]
    return found
