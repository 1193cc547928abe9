"""What the callers in the same file do with a function's result, as far as their text tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.semantics.site import Site

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.Lambda, ast.Module)


def why_not_followed(site: Site) -> str:
    """Why a tensor may not be returned in place of a number; empty where no caller minds."""
    function = site.function
    if function is None or function.name == "forward":
        return ""
    parents = _parents(site.module.tree)
    asked, names = {function.name}, [function.name]
    for name in names:
        for call in ast.walk(site.module.tree):
            if not isinstance(call, ast.Call) or not _is_named(call.func, name):
                continue
            if _is_in_inference_mode(call, parents):
                return f"`{name}` is called under `inference_mode`"
            for use in _uses(call, parents):
                if not _computes(site, use, parents):
                    return f"`{name}` gives a number that its caller needs as one"
                names += _handed_on(use, parents, asked)
    return ""


def _handed_on(use: ast.expr, parents: dict[ast.AST, ast.AST], asked: set[str]) -> Iterator[str]:
    """The function that returns the number in its turn, unless its callers were asked already."""
    if not isinstance(parents[use], ast.Return):
        return
    outer = next(node for node in _around(use, parents) if isinstance(node, _FUNCTIONS))
    if outer.name not in asked and outer.name != "forward":
        asked.add(outer.name)
        yield outer.name


def _is_named(function: ast.expr, name: str) -> bool:
    return (isinstance(function, ast.Name) and function.id == name) or (
        isinstance(function, ast.Attribute) and function.attr == name
    )


def _parents(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


def _around(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[ast.AST]:
    while node in parents:
        node = parents[node]
        yield node


def _is_in_inference_mode(call: ast.Call, parents: dict[ast.AST, ast.AST]) -> bool:
    managers = (
        item.context_expr
        for outer in _around(call, parents)
        if isinstance(outer, (ast.With, ast.AsyncWith))
        for item in outer.items
    )
    return any("inference_mode" in ast.unparse(manager) for manager in managers)


def _uses(call: ast.Call, parents: dict[ast.AST, ast.AST]) -> Iterator[ast.expr]:
    """The call itself, or the reads of the variable that it is bound to."""
    match parents[call]:
        case ast.Assign(targets=[ast.Name(id=name)]):
            scope = next(outer for outer in _around(call, parents) if isinstance(outer, _SCOPES))
            names = (node for node in ast.walk(scope) if isinstance(node, ast.Name))
            yield from (n for n in names if n.id == name and isinstance(n.ctx, ast.Load))
        case ast.Expr():
            pass
        case _:
            yield call


def _computes(site: Site, use: ast.expr, parents: dict[ast.AST, ast.AST]) -> bool:
    """True for an operand of arithmetic, of a comparison, or of a function of torch.

    Arithmetic with a constant only makes another number.
    """
    parent = parents[use]
    match parent:
        case ast.BinOp(left=left, op=op, right=right):
            number = isinstance(right if left is use else left, ast.Constant)
            return isinstance(op, _ARITHMETIC) and not number
        case ast.AugAssign(target=target, op=op, value=value):
            named = isinstance(target, ast.Name)
            return isinstance(op, _ARITHMETIC) and value is use and not named
        case ast.Compare() | ast.Return():
            return True
        case ast.Call(func=function):
            return function is not use and (site.dotted(function) or "").startswith("torch.")
    return False
