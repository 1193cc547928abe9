"""Which values hold the size of a tensor, that Dynamo can keep symbolic?"""

from __future__ import annotations

import ast

from tclint.semantics.lattice import options
from tclint.semantics.values import Sequence, SymInt, Value


def holds_size(value: Value) -> bool:
    """True for a size, and for tuples and lists with one in them."""
    for option in options(value):
        if isinstance(option, SymInt):
            return True
        if isinstance(option, Sequence):
            members = (option.element,) if option.items is None else option.items
            if any(map(holds_size, members)):
                return True
    return False


def is_last(node: ast.expr) -> bool:
    """True for ``x.shape[-1]`` and ``x.size(-1)``: the width of a layer, as a rule."""
    last = (
        ast.unparse(n.slice) if isinstance(n, ast.Subscript) else ast.unparse(n.args[-1])
        for n in ast.walk(node)
        if isinstance(n, ast.Subscript) or (isinstance(n, ast.Call) and n.args)
    )
    return any(place == "-1" for place in last)


def is_ratio(node: ast.expr) -> bool:
    """True for ``a.numel() / b.numel()``: what varies may cancel out."""
    match node:
        case ast.BinOp(
            left=ast.Call(func=ast.Attribute(attr="numel")),
            op=ast.Div(),
            right=ast.Call(func=ast.Attribute(attr="numel")),
        ):
            return True
    return False
