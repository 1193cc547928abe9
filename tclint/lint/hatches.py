"""Where escape hatches may be opened at all."""

from __future__ import annotations

import ast

from tclint.semantics.site import Site
from tclint.semantics.training import may_train, training_bodies

_EXPORT = "torch.export"


def may_open(site: Site) -> bool:
    """False where values vary from call to call, and where nothing is compiled anew for others.

    That is in a training step, in the backward pass of an autograd function, and in a file whose
    models are exported.
    """
    text, imports = site.module.file.text, site.module.imports.values()
    exports = _EXPORT in text or any(name.startswith(_EXPORT) for name in imports)
    if exports or _is_backward(site):
        return False
    return not may_train(text) or not _trains(site)


def _is_backward(site: Site) -> bool:
    """True in the backward pass of an autograd function, and in what it calls."""
    names = [link.function for link in site.chain]
    if site.function is not None:
        names.append(site.function.qualname)
    return any(name.endswith(".backward") for name in names)


def _trains(site: Site) -> bool:
    """True in a loop or function that belongs to a training step, and in what such a one calls."""
    bodies = training_bodies(site.module)
    here: list[ast.AST] = [*site.facts.loops]
    if site.function is not None:
        here.append(site.function.node)
    steps = {body.name for body in bodies if isinstance(body, ast.FunctionDef)}
    path = str(site.module.file.path)
    reached = (one.function.rpartition(".")[2] for one in site.chain if one.filename == path)
    return any(node in bodies for node in here) or any(name in steps for name in reached)
