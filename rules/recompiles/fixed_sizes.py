"""TCL230: sizes that vary, for what is compiled with fixed ones."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Change, Confidence, Effect
from tclint.lint.rewrite import AddArgument, Repair
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import CompileCall
from tclint.semantics.site import Site

from .loop_calls import calls_of_compiled, long_loops, names_loop

_FACTORIES: Final = frozenset(
    f"torch.{name}" for name in ("arange", "empty", "full", "ones", "rand", "randn", "zeros")
)
_JOINED: Final = frozenset({"torch.cat", "torch.concat", "torch.concatenate"})


class FixedSizes(Rule[CompileCall]):
    """A loop calls a function compiled with `dynamic=False` with a new size in each step."""

    code = "TCL230"
    name = "fixed-sizes-that-vary"
    summary = "`dynamic=False` recompiles for each new size that a loop passes"
    instead = "Remove `dynamic=False`, or pad the inputs to a few sizes"
    on = CompileCall
    effects = (Effect.RECOMPILE,)
    outside_regions = True

    def check(self, event: CompileCall) -> Finding | None:
        """Look for sizes of loops in the calls of what is compiled."""
        dynamic, call = event.keywords.get("dynamic"), event.call
        if not isinstance(dynamic, ast.Constant) or dynamic.value is not False:
            return None
        found = next(_sizes_of_loop(event), None)
        if found is None or not isinstance(call, ast.Call):
            return None
        return Finding(
            f"`{event.site.text(found)}` has a new size in each step: `dynamic=False` recompiles",
            fix=Repair(
                "Let torch choose",
                (AddArgument(call, "None", keyword="dynamic"),),
                Change.BEHAVIOUR,
                changes="kernels for any size may be slower than those for one",
            ),
            node=dynamic,
            confidence=Confidence.HIGH,
            related=(found,),
        )


def _sizes_of_loop(event: CompileCall) -> Iterator[ast.expr]:
    """The arguments that have another size in each step of a loop."""
    for call in calls_of_compiled(event):
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            if _varies(event.site, argument):
                yield argument


def _varies(site: Site, argument: ast.expr) -> bool:
    match argument:
        case ast.Name(id=name):
            return any(_extends(site, loop, name) for loop in long_loops(site, argument))
        case ast.Subscript(slice=ast.Tuple(elts=parts)):
            return any(_ends_at_loop(site, part) for part in parts)
        case ast.Subscript(slice=part):
            return _ends_at_loop(site, part)
        case ast.Call(func=function, args=sizes):
            is_new = site.dotted(function) in _FACTORIES
            return is_new and any(names_loop(site, size) for size in sizes)
    return False


def _extends(site: Site, loop: ast.For | ast.While, name: str) -> bool:
    """True for a loop with the statement ``name = torch.cat([name, ...])``."""
    for node in ast.walk(loop):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=target)], value=ast.Call(func=function, args=[parts, *_])
            ) if target == name and site.dotted(function) in _JOINED:
                if any(isinstance(p, ast.Name) and p.id == name for p in ast.walk(parts)):
                    return True
    return False


def _ends_at_loop(site: Site, part: ast.expr) -> bool:
    match part:
        case ast.Slice(lower=None, upper=ast.expr() as end, step=None):
            return names_loop(site, end)
        case ast.Slice(lower=ast.expr() as start, upper=None, step=None):
            return names_loop(site, start)
    return False
