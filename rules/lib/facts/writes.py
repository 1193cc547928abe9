"""What a piece of code writes in place, as far as it shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.semantics.syntax import last_name

_IN_PLACE = frozenset(
    "__iadd__ __iand__ __ifloordiv__ __ilshift__ __imatmul__ __imod__ __imul__ __ior__ __ipow__ "
    "__irshift__ __isub__ __itruediv__ __ixor__ __setitem__".split()
)


def written(part: ast.AST) -> Iterator[ast.expr]:
    """What a piece of code writes in place, as far as it shows."""
    match part:
        case ast.AugAssign(target=target):
            yield target
        case ast.Subscript(value=owner, ctx=ast.Store() | ast.Del()):
            yield owner
        case ast.Attribute(value=owner, attr="data", ctx=ast.Store()):
            yield owner
        case ast.Call(func=function, args=given, keywords=keywords):
            asked = any(keyword.arg == "inplace" for keyword in keywords)
            if asked or is_in_place(last_name(function)):
                yield from (getattr(function, "value", function), *given)
            yield from (keyword.value for keyword in keywords if keyword.arg == "out")


def is_in_place(method: str) -> bool:
    """True for the name of a method that may write its tensor."""
    return method in _IN_PLACE or ends_in_place(method)


def ends_in_place(method: str) -> bool:
    """True for the names that torch gives to what it computes in place."""
    return method.endswith("_") and not method.endswith("__")
