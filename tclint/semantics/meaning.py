"""What a name means at a place where nobody has written it yet.

Values tell what the names of a program mean. This is for names that a fix is about to write: a
builtin that some star import hides, or an import that a parameter hides, would be another thing
there than the fix means.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from typing import Final

from tclint.semantics.collect import bindings
from tclint.semantics.project import Project
from tclint.semantics.records import record
from tclint.semantics.symbols import ModuleInfo
from tclint.semantics.syntax import blocks_of
from tclint.torch_facts.starred import BUILTINS, brings

BUILTIN: Final = "builtins."


Scopes = tuple[ast.AST, ...]


@record(frozen=True)
class Meaning:
    """``dotted`` is the name of a library or a builtin, None for what the program itself makes.

    ``star`` is the module that may give it another meaning: ``from star import *``.
    """

    dotted: str | None = None
    star: str = ""


def meaning(project: Project, module: ModuleInfo, scopes: Scopes, name: str) -> Meaning | None:
    """What a name means inside of ``scopes``; None where nothing binds it.

    Python makes a name local to a whole function when any statement of it binds the name.
    """
    for scope in scopes:
        inside = bindings(module, scope)
        if name in inside:
            return Meaning(inside[name])
    imported = module.imports.get(name)
    if imported is not None and name not in module.rebound:
        return Meaning(imported)
    if name in bindings(module, module.tree) or name in module.declared:
        return Meaning()
    for star in reversed(module.stars):
        given = _gives(project, module, star, name, frozenset())
        if given is not False:
            return Meaning(None if given is None else f"{star}.{name}", star)
    return Meaning(f"{BUILTIN}{name}") if name in BUILTINS else None


def scopes_around(module: ModuleInfo, node: ast.expr | ast.stmt) -> Scopes:
    """The outermost function that a node is in; outside of all, its own statement and class."""
    cls: Scopes = ()
    block = module.tree.body
    while True:
        above = bisect_right(block, node.lineno, key=lambda statement: statement.lineno)
        statement = block[above - 1] if above else None
        if statement is None or statement is node or (statement.end_lineno or 0) < node.lineno:
            return cls
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return (statement,)
        cls = (statement,) if isinstance(statement, ast.ClassDef) else cls
        inner = [one for block in blocks_of(statement) for one in block]
        if not inner or node.lineno < inner[0].lineno:
            return (*cls, statement)
        block = inner


def _gives(
    project: Project, importer: ModuleInfo, star: str, name: str, seen: frozenset[ModuleInfo]
) -> bool | None:
    """Whether a star gives a name, which may be handed on from another; None if unknown."""
    known = brings(star, name) if name in BUILTINS else None
    if known is not None:
        return known
    module = project.module(star, importer)
    if module is None:
        return None
    if module in seen or not project.exports(module, name):
        return False
    if name in bindings(module, module.tree) or name in module.declared:
        return True
    if name in (project.listed(module) or ()):  # it may make it when asked
        return True
    given = {_gives(project, module, one, name, seen | {module}) for one in module.stars}
    if True in given:
        return True
    return None if None in given else False
