"""What may give an attribute of a module another number than its ``__init__`` did."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.semantics.collect import dotted_name
from tclint.semantics.symbols import ClassInfo, ModuleInfo
from tclint.semantics.syntax import last_name, nodes

from .kept_scalars import MAKES, Kept, Made, substituted

_COPIES: Final = frozenset({"copy_", "fill_", "constant_"})
_TABLES: Final = frozenset({"_buffers", "__dict__"})
_BY_NAME: Final = frozenset({"setattr", "delattr", "register_buffer"})


def why_written(cls: ClassInfo, kept: Kept, name: str) -> str:
    """The code of the file that may give an attribute another number; empty for none."""
    made = kept.attributes[name]
    family, own = family_of(cls), set(nodes(made.statement))
    for scope, node in with_scopes(cls.module.tree):
        if not writes(node, name) or node in own:
            continue
        of_others = isinstance(scope, ast.ClassDef) and scope not in family
        if of_others and _owner(node) == "self":
            continue
        if not _writes_the_same(cls.module, node, made, kept):
            return ast.unparse(node)
    return ""


def family_of(cls: ClassInfo) -> list[ast.ClassDef]:
    """The class, those that it names as its bases, and those of the file that derive from it."""
    classes = [one for one in nodes(cls.module.tree) if isinstance(one, ast.ClassDef)]
    found = [cls.node]
    for one in found:  # grows while it is walked
        near = {last_name(base) for base in one.bases}
        found += [
            other
            for other in classes
            if other not in found
            and (other.name in near or one.name in {last_name(base) for base in other.bases})
        ]
    return found


def with_scopes(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.AST]]:
    """All nodes, each with the class that it is in, or the module."""
    pending: list[tuple[ast.AST, ast.AST]] = [(tree, tree)]
    while pending:
        scope, node = pending.pop()
        yield scope, node
        inner = node if isinstance(node, ast.ClassDef) else scope
        pending += [(inner, child) for child in ast.iter_child_nodes(node)]


def writes(node: ast.AST, name: str) -> bool:
    """True for what stores to an attribute of that name, or changes the tensor there in place."""
    match node:
        case ast.Attribute(value=value, attr=attr, ctx=ast.Store() | ast.Del()):
            return attr == name or _is_attribute(value, name)
        case ast.Subscript(value=value, slice=key, ctx=ast.Store() | ast.Del()):
            named = isinstance(key, ast.Constant) and key.value == name
            return _is_attribute(value, name) or (named and last_name(value) in _TABLES)
        case ast.Call(func=function, args=args, keywords=keywords):
            if any(one.arg == "out" and _is_attribute(one.value, name) for one in keywords):
                return True
            called = last_name(function)
            if called in _BY_NAME:
                return any(isinstance(arg, ast.Constant) and arg.value == name for arg in args)
            owner = [function.value] if isinstance(function, ast.Attribute) else []
            in_place = called.endswith("_") and not called.endswith("__")
            return in_place and any(_is_attribute(one, name) for one in (*owner, *args))
    return False


def _is_attribute(node: ast.expr, name: str) -> bool:
    """True for ``x.name`` and for ``x.name.data``."""
    match node:
        case ast.Attribute(value=value, attr="data") if name != "data":
            return _is_attribute(value, name)
        case ast.Attribute(attr=attr):
            return attr == name
    return False


def _owner(node: ast.AST) -> str:
    """The variable whose attribute is written."""
    found = [one.id for one in nodes(node) if isinstance(one, ast.Name)]
    return "self" if "self" in found else ""


def _writes_the_same(module: ModuleInfo, node: ast.AST, made: Made, kept: Kept) -> bool:
    """True for ``init.copy_(module.stride, value)`` with the value that ``__init__`` gave it.

    A value that rests on what ``__init__`` was given is not known any more.
    """
    names = {part.id for part in nodes(made.formula) if isinstance(part, ast.Name)}
    if names - {kept.own}:
        return False
    match node:
        case ast.Call(
            func=function, args=[ast.Attribute(value=ast.Name(id=owner)), value], keywords=[]
        ) if last_name(function) in _COPIES:
            known = _known_before(module, node)
            if known is None:
                return False
            formula = _without_tensors(module, value, known)
            formula = substituted(formula, {owner: ast.Name(kept.own)})
            return ast.dump(formula) == ast.dump(made.formula)
    return False


def _known_before(module: ModuleInfo, call: ast.Call) -> dict[str, ast.expr] | None:
    """What the variables hold that the block of a statement assigned before it."""
    for outer in nodes(module.tree):
        for block in (getattr(outer, name, None) for name in ("body", "orelse")):
            for place, statement in enumerate(block if isinstance(block, list) else ()):
                if isinstance(statement, ast.Expr) and statement.value is call:
                    return _assigned(module, block[:place] if isinstance(block, list) else [])
    return None


def _assigned(module: ModuleInfo, block: list[ast.stmt]) -> dict[str, ast.expr]:
    known: dict[str, ast.expr] = {}
    for statement in block:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                known[name] = _without_tensors(module, value, known)
            case _:
                for node in nodes(statement):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        known.pop(node.id, None)
    return known


def _without_tensors(module: ModuleInfo, node: ast.expr, known: dict[str, ast.expr]) -> ast.expr:
    """The number of ``torch.tensor(number)``, by what is known."""
    match node:
        case ast.Call(func=function, args=[given]) if dotted_name(module, function) in MAKES:
            return substituted(given, known)
    return substituted(node, known)
