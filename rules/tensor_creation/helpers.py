"""Does a function of the project only read a tensor that it is given?"""

from __future__ import annotations

import ast
from typing import Final

from tclint.semantics.symbols import FunctionInfo, ModuleInfo
from tclint.torch_facts.memory import (
    ALLOCATING_FUNCTIONS,
    ALLOCATING_METHODS,
    DESCRIPTIONS,
    READING_METHODS,
)

from ..proofs.parameters import parameter_of

_METHODS: Final = ALLOCATING_METHODS | READING_METHODS | DESCRIPTIONS
_KEPT_OUT: Final = (None, "out", "inplace")


def only_reads(function: FunctionInfo, call: ast.Call, given: ast.expr) -> bool:
    """True where all that the function does with an argument gives something new."""
    name, code = parameter_of(function, call, given), function.node
    if not name or isinstance(code, ast.Lambda) or function.decorators or code.decorator_list:
        return False
    around: dict[ast.AST, ast.AST] = {}
    for outer in ast.walk(code):
        around |= dict.fromkeys(ast.iter_child_nodes(outer), outer)
    own = {n.arg for n in ast.walk(code) if isinstance(n, ast.arg)}
    own |= {n.id for n in ast.walk(code) if isinstance(n, ast.Name) and not _is_load(n)}
    uses = [n for n in ast.walk(code) if isinstance(n, ast.Name) and n.id == name]
    return all(_is_load(use) and _uses_up(use, around, function.module, own) for use in uses)


def _is_load(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _uses_up(
    use: ast.AST, around: dict[ast.AST, ast.AST], module: ModuleInfo, own: set[str]
) -> bool:
    outer = around[use]
    match outer:
        case ast.BinOp() | ast.UnaryOp():
            return True
        case ast.Compare(ops=ops):
            return not any(isinstance(op, (ast.In, ast.NotIn)) for op in ops)
        case ast.Attribute(attr=attr, ctx=ast.Load()):
            return attr in _METHODS
        case ast.keyword(arg=keyword):
            call = around[outer]
            return keyword not in _KEPT_OUT and _allocates(call, module, own)
        case ast.Call(func=function) if function is not use:
            return _allocates(outer, module, own)
    return False


def _allocates(call: ast.AST, module: ModuleInfo, own: set[str]) -> bool:
    """True for a call of a function of torch that gives new memory."""
    parts: list[str] = []
    if not isinstance(call, ast.Call) or any(k.arg in _KEPT_OUT for k in call.keywords):
        return False
    function = call.func
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    if not isinstance(function, ast.Name) or function.id in own:
        return False
    first = module.imports.get(function.id, "")
    return ".".join([first, *reversed(parts)]) in ALLOCATING_FUNCTIONS
