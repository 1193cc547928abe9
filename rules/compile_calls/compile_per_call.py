"""TCL412: the same thing is wrapped again on every turn of a loop."""

from __future__ import annotations

import ast
from typing import ClassVar

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import CompileCall
from tclint.semantics.site import Site

STEP = "def step(y):\n    return y * 2\n\n\n"


class CompilePerCall(Rule[CompileCall]):
    """torch.compile is called on every turn of a loop, with the same arguments.

    What it does:
        Reports `torch.compile` in a loop where nothing that the call mentions is bound in the loop,
        and `torch.compile` in a module's `forward`. A loop over the blocks or the modes to compile
        is silent.

    Why it hurts:
        The code that was compiled is found again, so that nothing recompiles on torch 2.13, but
        the wrapper is built and everything about it looked up each time: a call through inductor
        took 1.58 ms instead of 0.05 ms (a function; CPU, mean of 200) and 1.09 ms instead of
        0.23 ms (an `nn.Linear`). A backend that is made anew for each call does recompile: 8 times,
        then eager.

    Fix safety:
        Not fixed: keep the compiled callable, in a variable before the loop or in `__init__`.

    References:
        `torch.compile`; https://github.com/pytorch/pytorch/issues/168373 for backends.
    """

    code = "TCL412"
    name = "compile-per-call"
    summary = "`torch.compile` on every turn of a loop wraps the same thing again"
    on = CompileCall
    effects = (Effect.LAUNCH_OVERHEAD,)
    outside_regions = True
    examples: ClassVar = (
        Untouched(
            code=f"{STEP}def f(x):\n    for _ in range(3):\n        x = torch.compile(step)(x)\n"
            "    return x\n",
            reason="before the loop",
            title="in a loop",
        ),
        Untouched(
            code=(
                "class f(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.linear = nn.Linear(3, 3)\n\n    def forward(self, x):\n"
                "        return torch.compile(self.linear)(x)\n"
            ),
            reason="in `__init__`",
            title="in forward",
        ),
        Good(
            code=f"{STEP}compiled = torch.compile(step)\n\n\ndef f(x):\n"
            "    for _ in range(3):\n        x = compiled(x)\n    return x\n",
            title="kept",
        ),
        Good(
            code=(
                "f = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))\n"
                "for place in range(2):\n    f[place] = torch.compile(f[place])\n"
            ),
            title="another block each time",
        ),
    )

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
            where, way_out = "on every turn of the loop", "keep the result, before the loop"
        elif site.cls is not None and site.function and site.function.name == "forward":
            where, way_out = "on every call of `forward`", "compile it in `__init__`"
        else:
            return None
        return Finding(
            f"torch.compile wraps `{site.text(event.call.args[0])}` anew {where}: {way_out}",
            fix=Decline(f"where to keep it is yours to say: {way_out}"),
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
