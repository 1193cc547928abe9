"""Emitting once, while Dynamo traces: a helper whose result Dynamo takes as a constant."""

from __future__ import annotations

import ast

from tclint.diagnostics import Applicability, Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.events import SideEffectCall
from tclint.semantics.site import Site

from .evaluation import arguments, binds_or_waits, is_fixed, is_known_when_traced
from .place import insert_above, why_not_alone
from .torch_name import torch_name

ASSUME_CONSTANT = "torch.compiler.assume_constant_result"


def trace_time(event: SideEffectCall) -> Repair | Decline:
    """Move the call into a helper under ``torch.compiler.assume_constant_result``."""
    site, call = event.site, event.call
    obstacle = _obstacle(event)
    if obstacle is not None:
        return Decline(obstacle)
    spelled = torch_name(site, ASSUME_CONSTANT, top_level=True)
    if isinstance(spelled, Decline):
        return spelled
    name, imports = spelled
    function = site.text(call.func)
    helper = f"_{function.strip('_').replace('.', '_')}_when_traced"
    template = f"@{name}\ndef {helper}(*args, **kwargs):\n    {function}(*args, **kwargs)\n"
    known = site.module.functions
    inserts = () if helper in known else (insert_above(site, template),)
    fixed = all(is_fixed(site, argument) for argument in arguments(call))
    return Repair(
        f"Emit it once per compilation, through `{helper}`",
        (*imports, *inserts, Replace(call.func, helper)),
        Applicability.SAFE if fixed else Applicability.UNSAFE,
        "" if fixed else "compiled code shows the values of the time when it was traced",
    )


def _obstacle(event: SideEffectCall) -> str | None:
    site, call = event.site, event.call
    if event.statement is None:
        return why_not_alone(event)
    if any(isinstance(a, ast.Starred) for a in call.args) or any(not k.arg for k in call.keywords):
        return "the call unpacks its arguments"
    unknown = [
        a for a in arguments(call) if not is_known_when_traced(site, a) and not is_fixed(site, a)
    ]
    if unknown:
        return f"`{site.text(unknown[0])}` is not known while tracing"
    if not _is_global(site, call.func):
        return f"`{site.text(call.func)}` cannot be reached from a helper function"
    return binds_or_waits(call)


def _is_global(site: Site, function: ast.expr) -> bool:
    """True for ``name`` and ``name.attribute`` where the name means the same in the helper."""
    root = function
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return False
    module = site.module
    is_known = root.id in {*module.imports, *module.assigned} or site.dotted(root) == "print"
    return is_known and site.dotted(root) is not None
