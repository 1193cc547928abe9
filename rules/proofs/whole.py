"""Operations whose results are whole numbers, whatever they are made of."""

from __future__ import annotations

import ast
from typing import Final

_MAKE: Final = frozenset(
    "argmax argmin argsort bincount bucketize ceil floor round searchsorted trunc".split()
)
_KEEP: Final = frozenset(
    "abs amax amin clone cpu cuda detach item max min reshape squeeze sum view".split()
)


def is_whole(node: ast.expr) -> bool:
    """True where ``int`` has nothing to cut off: ``x.round()``, ``torch.bincount(x)[0].item()``."""
    match node:
        case ast.Subscript(value=inner):
            return is_whole(inner)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in _MAKE:
            return True
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _KEEP:
            return is_whole(inner)
    return False
