"""Fixes in scripted code: they are declined, whatever the rule."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Local, Repair, anchor

if TYPE_CHECKING:
    from tclint.lint.rule import Finding
    from tclint.semantics.events import Event
    from tclint.semantics.interpreter.scripted import Scripted
    from tclint.semantics.symbols import FunctionInfo


def outside_script(finding: Finding, event: Event, scripted: Scripted) -> Finding:
    """The finding, without what would rewrite code that ``torch.jit.script`` compiles.

    TorchScript takes less than Python: no ``torch.compiler``, no tensor for a number. Dynamo
    traces the Python function behind a scripted one, so that what is found there is true.
    """

    def touched(repair: Repair | Decline | None) -> FunctionInfo | None:
        """The scripted function that a repair would rewrite."""
        rewrites = repair.rewrites if isinstance(repair, Repair) else ()
        rows = [anchor(one).lineno for one in rewrites if isinstance(one, Local)]
        found = (scripted.around(event.site.module, row) for row in rows)
        return next((function for function in found if function is not None), None)

    function = touched(finding.fix)
    if function is None:
        return finding
    why = f"torch.jit.script compiles `{function.qualname}`, too, and supports less of Python"
    return replace(finding, fix=Decline(why))
