"""Reads that find the same each time and run no code of the program's.

Any attribute may be a property, and any object may make up what it is asked for.
"""

from __future__ import annotations

import ast
from typing import Final

from tclint.semantics.lattice import options
from tclint.semantics.project import PLAIN_BASES, Project
from tclint.semantics.site import Site
from tclint.semantics.symbols import ClassInfo
from tclint.semantics.values import (
    DataScalar,
    External,
    Function,
    Mapping,
    Object,
    Sequence,
    Static,
    SymInt,
    Tensor,
    Value,
)
from tclint.torch_facts.memory import (
    READING_FUNCTIONS,
    allocates,
    gives_no_tensor,
    writes_nothing,
)

_ASKED: Final = ("__getattr__", "__getattribute__")
_IS_COMPILING: Final = "torch.compiler.is_compiling"


def is_plain_read(site: Site, project: Project, node: ast.expr) -> bool:
    """True for an attribute, an element or a call of torch that may be evaluated again.

    What it is read from is another question.
    """
    match node:
        case ast.Attribute(value=owner, attr=name):
            kinds = options(site.value(owner))
            return all(_holds(project, kind, name) for kind in kinds) or _is_library(site, node)
        case ast.Subscript(value=owner):
            return all(
                isinstance(kind, (Mapping, Sequence, Tensor)) or _is_plain(kind)
                for kind in options(site.value(owner))
            )
        case ast.Call():
            return _only_reads(site, node)
    return False


def _is_library(site: Site, node: ast.expr) -> bool:
    return all(isinstance(one, (External, Function)) for one in options(site.value(node)))


def _is_plain(value: Value) -> bool:
    """True for Python's own numbers, texts and tuples."""
    return isinstance(value, (SymInt, DataScalar)) or (
        isinstance(value, Static) and value.type is not None
    )


def _holds(project: Project, owner: Value, name: str) -> bool:
    """True for what has an attribute as a plain one, or as a method."""
    if not isinstance(owner, Object):
        return isinstance(owner, (External, Mapping, Sequence, Tensor)) or _is_plain(owner)
    if owner.cls is None:
        return owner.is_module or owner.name.startswith("torch.")
    method = project.method(owner.cls, name)
    if method is not None:
        return not method.decorators
    return not any(_makes_up(project, base, name) for base in project.ancestry(owner.cls))


def _makes_up(project: Project, base: ClassInfo | str, name: str) -> bool:
    """True for a class that may run code where an attribute of its objects is read."""
    if isinstance(base, str):
        known = base.startswith("torch.") or base.partition(".")[0] in PLAIN_BASES
        return not known
    descriptor = any(
        isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store)
        for statement in base.node.body
        if isinstance(statement, (ast.Assign, ast.AnnAssign))
        and isinstance(statement.value, ast.Call)
        for one in ast.walk(statement)
    )
    return descriptor or any(asked in base.methods for asked in _ASKED)


def _only_reads(site: Site, call: ast.Call) -> bool:
    if any(keyword.arg in (None, "out") for keyword in call.keywords):
        return False
    dotted = site.dotted(call.func) or ""
    if dotted.startswith("torch."):
        return dotted == _IS_COMPILING or allocates(dotted)
    match call.func:
        case ast.Attribute(value=owner, attr=name):
            kinds = options(site.value(owner))
            reads = writes_nothing(name) or gives_no_tensor(name)
            return reads and all(isinstance(kind, Tensor) for kind in kinds)
        case ast.Name(id=name) if site.value(call.func) == External(f"builtins.{name}"):
            given = [kind for one in call.args for kind in options(site.value(one))]
            plain = all(isinstance(kind, (Sequence, Tensor)) or _is_plain(kind) for kind in given)
            return name in READING_FUNCTIONS and plain
    return False
