"""Writing a name of torch's into a file that may not import torch under its own name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Import, Insert
from tclint.semantics.body import functions_around
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes

Function = ast.FunctionDef | ast.AsyncFunctionDef
Spelled = tuple[str, tuple[Import | Insert, ...]]


def torch_name(site: Site, dotted: str) -> Spelled | Decline:
    """How to write ``dotted`` here, and the import it needs.

    Where functions import torch, and the file does not, the import goes into the function.
    """
    spelled = site.spell(dotted)
    if spelled is not None:
        return spelled, ()
    name = dotted.partition(".")[0]
    return _by_functions(site, dotted, name) or _by_file(site, dotted, name)


def _by_file(site: Site, dotted: str, name: str) -> Spelled | Decline:
    module = site.module
    taken = {*module.imports, *module.functions, *module.classes, *module.assigned}
    if _is_local(site, name) or name in taken:
        return Decline(f"`{name}` may not be the torch module here")
    if any(_is_of_torch(module.imports[local]) for local in module.imported):
        return dotted, (Import("torch"),)
    return Decline("the file does not import torch, and may be used without it")


def _by_functions(site: Site, dotted: str, name: str) -> Spelled | None:
    """With an import in this function, or in one around it, that has run by now."""
    row = site.statement.lineno
    for function in _functions_around(site):
        if _rebinds(function, name):
            return None
        imports = [s for s in function.body if s.lineno < row and _imports_torch(s)]
        if any(isinstance(s, ast.Import) and _brings(s, name) for s in imports):
            return dotted, ()
        if imports:
            return dotted, (Insert(imports[0], f"import {name}"),)
        row = function.lineno
    return None


def _functions_around(site: Site) -> Iterator[Function]:
    """The functions that the site stands in, innermost first."""
    row = site.statement.lineno
    around = functions_around(site.module.tree, row, row)
    return (one for one in reversed(around) if one.body[0].lineno <= row)


def _imports_torch(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return statement.level == 0 and _is_of_torch(statement.module or "")
    return isinstance(statement, ast.Import) and any(_is_of_torch(a.name) for a in statement.names)


def _brings(statement: ast.Import, name: str) -> bool:
    return any(a.asname is None and a.name.partition(".")[0] == name for a in statement.names)


def _rebinds(function: Function, name: str) -> bool:
    """True where a function gives the name a meaning that is not that of ``import``."""
    return any(
        (isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.arg) and node.arg == name)
        or (isinstance(node, ast.alias) and node.asname == name)
        for node in nodes(function)
    )


def _is_of_torch(dotted: str) -> bool:
    return dotted.partition(".")[0] == "torch"


def _is_local(site: Site, name: str) -> bool:
    """True when the function binds the name: by an assignment, an argument or an import."""
    if isinstance(site.body.scope, ast.Module):
        return False
    for part in nodes(site.body.scope):
        if isinstance(part, ast.arg) and part.arg == name:
            return True
        if isinstance(part, ast.alias) and name in {part.asname, part.name.partition(".")[0]}:
            return True
    return bool(site.stores(name))
