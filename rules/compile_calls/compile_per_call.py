"""TCL412: the same thing is wrapped again on every turn of a loop."""

from __future__ import annotations

import ast

from tclint.diagnostics import Advice, Confidence, Effect, Worth
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import CompileCall
from tclint.semantics.site import Site


class CompilePerCall(Rule[CompileCall]):
    """A loop calls `torch.compile` on every iteration, with the same arguments."""

    code = "TCL412"
    name = "compile-per-call"
    summary = "`torch.compile` in a loop wraps the same function on every iteration"
    instead = "Compile once, before the loop or in `__init__`, and call the result"
    worth = Worth.HIGH
    measured = "0.9 to 1.5 ms a call (CPU)"
    on = CompileCall
    effects = (Effect.LAUNCH_OVERHEAD,)
    outside_regions = True

    def check(self, event: CompileCall) -> Finding | None:
        """Look for a loop, or a forward, that the call does not depend on."""
        site = event.site
        if not isinstance(event.call, ast.Call) or not event.call.args or event.discarded:
            return None
        if site.dotted(event.call.func) != "torch.compile" or _is_kept(site, event.call):
            return None
        if any(isinstance(n, ast.Lambda) for n in ast.walk(event.call)):
            return None
        if site.facts.loops and not _depends(site, event.call, site.facts.loops[-1]):
            where, way_out = "on every iteration of the loop", "compile it once, before the loop"
        elif site.cls is not None and site.function and site.function.name == "forward":
            where, way_out = "on every call of `forward`", "compile it in `__init__`"
        else:
            return None
        return Finding(
            f"torch.compile wraps `{site.text(event.call.args[0])}` again {where}",
            fix=Advice(f"tclint cannot tell where to keep the compiled function: {way_out}"),
            confidence=Confidence.HIGH,
        )


def _is_kept(site: Site, call: ast.Call) -> bool:
    """True where the result goes into an attribute or an item, or a branch may run once."""
    match site.parent(call):
        case ast.Return() | ast.Yield():
            return True
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return True
    return any(isinstance(outer, ast.If) for outer in site.ancestors(call))


def _depends(site: Site, call: ast.Call, loop: ast.stmt) -> bool:
    """True when something that the call mentions may be another on the next turn, if there is."""
    if any(isinstance(s, (ast.Break, ast.Return, ast.Raise)) for s in getattr(loop, "body", [])):
        return True
    mentioned = {ast.unparse(n) for n in ast.walk(call) if isinstance(n, (ast.Name, ast.Attribute))}
    for node in ast.walk(loop):
        if isinstance(node, ast.Attribute) and node.attr == "reset":
            return True  # a cold start on purpose: what was compiled is forgotten
        context = getattr(node, "ctx", None)
        if isinstance(context, ast.Store) and isinstance(node, ast.expr):
            owned = node.value if isinstance(node, ast.Subscript) else node
            if ast.unparse(owned) in mentioned:
                return True
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in mentioned:
            return True
    calls = (n for n in ast.walk(call) if isinstance(n, ast.Call) and n is not call)
    return any(True for _ in calls)
