"""Whether an imported name is there when a statement runs: imports may be late, or never happen."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tclint.semantics.collect import dotted_name

if TYPE_CHECKING:
    from tclint.semantics.body import Body
    from tclint.semantics.symbols import ModuleInfo


def is_imported(body: Body, statement: ast.stmt, name: str) -> bool:
    """True when an import has bound a name of the module's before a statement runs.

    Below ``if`` and ``try`` it may not have, unless the code around could not be there otherwise.
    """
    inside = body.imports(name)
    if inside:
        block = getattr(body.scope, "body", ())
        return any(one in block and one.lineno < statement.lineno for one in inside)
    if name in body.module.imported:
        return True
    return name not in body.module.typed and (
        _is_needed(body, statement, name) or _is_needed_above(body.module, name)
    )


def _is_needed(body: Body, statement: ast.stmt, name: str) -> bool:
    """True when the statement itself needs the name, or one that has run before it for sure."""
    for load in body.names(name):
        if not isinstance(load.ctx, ast.Load):
            continue
        around = _around(body, statement, load)
        if around is statement:
            return True
        if around is not None and around.lineno < statement.lineno:
            return True
    return False


def _around(body: Body, statement: ast.stmt, load: ast.Name) -> ast.stmt | None:
    """The statement that evaluates a name on every way through the function, or the given one."""
    inner: ast.AST = load
    while (outer := body.parent(inner)) is not None:
        if isinstance(outer, ast.AnnAssign) and inner is outer.annotation:
            return None
        if isinstance(outer, ast.stmt):
            is_first = outer in getattr(body.scope, "body", ())
            return outer if outer is statement or is_first else None
        if isinstance(outer, (ast.Lambda, ast.IfExp, ast.BoolOp)):
            return None
        inner = outer
    return None


def _is_needed_above(module: ModuleInfo, name: str) -> bool:
    """True for a file that has classes of the name's package, and so needs it to be imported."""
    package = module.imports[name].partition(".")[0]
    certain = (cls for cls in module.classes.values() if cls.node in module.tree.body)
    bases = (base for cls in certain for base in cls.bases)
    return any((dotted_name(module, base) or "").partition(".")[0] == package for base in bases)
