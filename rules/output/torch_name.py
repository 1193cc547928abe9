"""Writing a name of torch's into a file that may not import torch under its own name."""

from __future__ import annotations

import ast

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Import
from tclint.semantics.site import Site

from .place import is_bound_above

Spelled = tuple[str, tuple[Import, ...]]


def torch_name(site: Site, dotted: str, *, top_level: bool = False) -> Spelled | Decline:
    """How to write ``dotted`` here, or at the module's ``top_level``, and the import it needs."""
    spelled = site.spell(dotted)
    name = (spelled or dotted).partition(".")[0]
    module = site.module
    taken = {*module.imports, *module.functions, *module.classes, *module.assigned}
    if spelled is None:
        if _is_local(site, name) or name in taken:
            return Decline(f"`{name}` is not certainly the module torch here")
        if not any(_is_of_torch(module.imports[local]) for local in module.imported):
            return Decline("the file imports nothing of torch, and may be used without it")
        return dotted, (Import("torch"),)
    if top_level and not is_bound_above(site, name):
        return Decline("torch is not imported above this function")
    return spelled, ()


def _is_of_torch(dotted: str) -> bool:
    return dotted.partition(".")[0] == "torch"


def _is_local(site: Site, name: str) -> bool:
    """True when the function binds the name: by an assignment, an argument or an import."""
    if isinstance(site.body.scope, ast.Module):
        return False
    for part in ast.walk(site.body.scope):
        if isinstance(part, ast.arg) and part.arg == name:
            return True
        if isinstance(part, ast.alias) and name in {part.asname, part.name.partition(".")[0]}:
            return True
    return bool(site.stores(name))
