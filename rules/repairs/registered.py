"""Buffers of a module: where they are registered, and who writes into them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.records import record
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.symbols import ClassInfo
from tclint.semantics.values import Object


@record(frozen=True)
class Registered:
    """A buffer's name, and whether it belongs to the state dict."""

    name: str
    persistent: bool = True


def registered_everywhere(site: Site, owner: str, buffer: Registered) -> bool:
    """True when whatever module the variable may be registers the buffer, so, in ``__init__``."""
    classes = classes_of(site, owner)
    return bool(classes) and all(buffer in _registered(cls) for cls in classes)


def registered_otherwise(site: Site, owner: str, buffer: Registered) -> bool:
    """True when a class that the module may be of puts it into the state dict, or out of it."""
    other = Registered(buffer.name, not buffer.persistent)
    return any(other in _registered(cls) for cls in classes_of(site, owner))


def writer_of(site: Site, owner: str, attribute: str) -> str:
    """A statement of this file, or of those of the module's classes, that writes into it."""
    classes = classes_of(site, owner)
    for tree in dict.fromkeys([site.module.tree, *(cls.module.tree for cls in classes)]):
        for node in ast.walk(tree):
            for written in _written(node):
                if any(
                    isinstance(p, ast.Attribute) and p.attr == attribute for p in ast.walk(written)
                ):
                    return ast.unparse(node)[:80]
    return ""


def classes_of(site: Site, owner: str) -> list[ClassInfo]:
    """The classes of the project that a variable may be an instance of; none when one is not."""
    kinds = [kind for load in site.loads(owner) for kind in options(site.value(load))]
    known = [kind.cls for kind in kinds if isinstance(kind, Object) and kind.is_module and kind.cls]
    return list(dict.fromkeys(known)) if len(known) == len(kinds) else []


def _registered(cls: ClassInfo) -> Iterator[Registered]:
    init = cls.methods.get("__init__")
    for node in ast.walk(init.node) if init else ():
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="self"), attr="register_buffer"),
                args=[ast.Constant(value=str() as name), *_],
                keywords=keywords,
            ):
                flags = [k.value.value for k in keywords if isinstance(k.value, ast.Constant)]
                yield Registered(name, persistent=all(flags))


def _written(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions whose memory a node writes."""
    match node:
        case ast.AugAssign(target=target):
            yield target
        case ast.Assign(targets=targets):
            yield from (t.value for t in targets if isinstance(t, ast.Subscript))
        case ast.Call(func=ast.Attribute(value=tensor, attr=method), keywords=keywords):
            if method.endswith("_") and not method.endswith("__"):
                yield tensor
            yield from (keyword.value for keyword in keywords if keyword.arg == "out")
