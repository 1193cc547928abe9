"""Constants that a configuration object was made with: dataclasses and their like."""

from __future__ import annotations

import ast

from tclint.semantics.symbols import ClassInfo
from tclint.semantics.values import Object, Value


def field_of(owner: Value, name: str) -> ast.Constant | None:
    """The literal that an object's field got from its constructor call or its default."""
    match owner:
        case Object(cls=ClassInfo() as cls, site=ast.Call(args=[], keywords=keywords)):
            pass
        case _:
            return None
    if "__init__" in cls.methods or any(k.arg is None for k in keywords):
        return None
    written = next((k.value for k in keywords if k.arg == name), _default(cls, name))
    return written if isinstance(written, ast.Constant) else None


def _default(cls: ClassInfo, name: str) -> ast.expr | None:
    for statement in cls.node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=target), value=value) if target == name:
                return value
    return None
