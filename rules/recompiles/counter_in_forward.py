"""TCL220: a module counts its calls in an integer."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import ModuleWrite
from tclint.semantics.lattice import is_number
from tclint.semantics.site import Site

from .emptied import only_records

_COUNTING: Final = (ast.Add, ast.Sub, ast.Mult, ast.LShift)
_BUFFER: Final = (
    "register a buffer in `__init__` and add to it in `forward`, unless Python needs the number; "
    "or count where the module is called"
)


class CounterInForward(Rule[ModuleWrite]):
    """Compiled code increments an integer attribute of a module."""

    code = "TCL220"
    name = "counter-in-forward"
    summary = "Counting in an integer attribute recompiles on each call"
    instead = (
        "Count in a buffer, a tensor that `forward` adds to, or count where the module is called"
    )
    on = ModuleWrite
    effects = (Effect.RECOMPILE,)

    def check(self, event: ModuleWrite) -> Finding | None:
        """Report integers that are counted."""
        if not event.site.facts.recurs or event.site.settings.numbers_may_vary:
            return None
        if not _is_counted(event) or not is_number(event.value, "int"):
            return None
        name = event.site.text(event.target)
        return Finding(
            f"`{name}` is compiled in as a constant: each call with a new value recompiles",
            Advice(_BUFFER),
            confidence=Confidence.LOW if only_records(event.site) else None,
        )


def _is_counted(event: ModuleWrite) -> bool:
    """True where the new number is computed from the old one, and does not come round again."""
    match event.site.statement:
        case ast.AugAssign(target=target, op=op):
            return target is event.target and isinstance(op, _COUNTING)
        case ast.Assign(targets=[target], value=value):
            return target is event.target and _counts(event.site, value, ast.unparse(target))
    return False


def _counts(site: Site, value: ast.expr, old: str) -> bool:
    """True for ``self.n + 1``, also as ``min(self.n + 1, 9)``, in a choice or a local variable."""
    match value:
        case ast.BinOp(left, op, right) if isinstance(op, _COUNTING):
            sides = (left, right)
            return any(ast.unparse(s) == old or _counts(site, s, old) for s in sides)
        case ast.IfExp(body=body, orelse=orelse):
            return _counts(site, body, old) or _counts(site, orelse, old)
        case ast.Call(func=ast.Name(id="int" | "max" | "min"), args=arguments):
            return any(_counts(site, argument, old) for argument in arguments)
        case ast.Name():
            held = site.flow.value(value)
            return held is not None and _counts(site, held, old)
    return False
