"""Does a piece of code bind a variable anew, or change what it holds in place?"""

from __future__ import annotations

import ast
from collections.abc import Iterator


def is_written(node: ast.AST, name: str) -> bool:
    """True for a binding of a variable, a store into it, and a call that works on it in place."""
    match node:
        case ast.Name():
            return node.id == name and not isinstance(node.ctx, ast.Load)
        case ast.Subscript() | ast.Attribute():
            return not isinstance(node.ctx, ast.Load) and _root(node) == name
        case ast.Call():
            return any(_root(operand) == name for operand in _changed(node))
    return False


def _changed(call: ast.Call) -> Iterator[ast.expr]:
    """The operands that a call changes: of `x.add_(1)`, `F.relu_(x)`, `out=x`, `inplace=True`."""
    function = call.func
    last = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    if (last.endswith("_") and not last.endswith("__")) or "inplace" in named:
        yield from call.args
        if isinstance(function, ast.Attribute):
            yield function.value
    if "out" in named:
        yield named["out"]


def _root(node: ast.expr) -> str:
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case _:
                return ""
    return node.id
