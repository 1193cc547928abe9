"""Writing a name of torch's into a file that may not import torch under its own name."""

from __future__ import annotations

import ast

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Import
from tclint.semantics.site import Site

Spelled = tuple[str, tuple[Import, ...]]


def torch_name(site: Site, dotted: str) -> Spelled | Decline:
    """How to write ``dotted`` here, and the import that it needs."""
    spelled = site.spell(dotted)
    if spelled is not None:
        return spelled, ()
    module = site.module
    taken = {*module.imports, *module.functions, *module.classes, *module.assigned}
    if "torch" in taken or _is_local(site, "torch"):
        return Decline(f"`torch` means something else here, so `{dotted}` cannot be written")
    return dotted, (Import("torch"),)


def _is_local(site: Site, name: str) -> bool:
    parts = ast.walk(site.body.scope)
    return bool(site.stores(name)) or any(isinstance(p, ast.arg) and p.arg == name for p in parts)
