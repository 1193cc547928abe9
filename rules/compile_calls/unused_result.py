"""TCL414: a compiled model is bound to a name that nobody reads."""

from __future__ import annotations

import ast

from tclint.diagnostics import Advice, Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import CompileCall
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes


class UnusedCompileResult(Rule[CompileCall]):
    """A compiled callable is assigned to a local name that is never read."""

    code = "TCL414"
    name = "unused-compile-result"
    summary = "A compiled model assigned to an unused local name leaves the model eager"
    instead = (
        "Return the compiled model and use that, or call `model.compile()`, which compiles in place"
    )
    on = CompileCall
    effects = (Effect.INVALID,)
    outside_regions = True

    def check(self, event: CompileCall) -> Finding | None:
        """Look for reads of the name that the result is bound to."""
        match event.site.statement, event.call:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value),
                ast.Call(args=[ast.Name() as model, *_]),
            ) if value is event.call:
                pass
            case _:
                return None
        site = event.site
        if site.function is None or _outlives(site, name) or _is_read(site, name, model):
            return None
        way_out = f"return it, or use `{model.id}.compile()`"
        return Finding(
            f"The compiled `{model.id}` is never used: the original runs eagerly",
            fix=Advice(f"{way_out}, which compiles in place"),
            confidence=Confidence.HIGH,
        )


def _outlives(site: Site, name: str) -> bool:
    """True for names that are not the function's own."""
    kinds = (ast.Global, ast.Nonlocal)
    declared = (n for n in nodes(site.body.scope) if isinstance(n, kinds))
    return any(name in node.names for node in declared)


def _is_read(site: Site, name: str, model: ast.Name) -> bool:
    """True when the name is read behind the call, or in a loop around it."""
    if any(_is_locals(node) for node in nodes(site.body.scope)):
        return True
    here = model.lineno
    loops = site.facts.loops
    first = loops[0].lineno if loops else here
    return any(load is not model and load.lineno >= first for load in site.loads(name))


def _is_locals(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="locals" | "eval" | "exec")):
            return True
    return False
