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


def outside_script(finding: Finding, event: Event, scripted: Scripted) -> Finding:
    """The finding, without a fix that would rewrite what ``torch.jit.script`` compiles.

    TorchScript takes less than Python: no ``torch.compiler``, no tensor for a number. Dynamo
    traces the Python function behind a scripted one, so that what is found there is true.
    """
    if not isinstance(finding.fix, Repair):
        return finding
    places = [anchor(one) for one in finding.fix.rewrites if isinstance(one, Local)]
    for place in places:
        function = scripted.around(event.site.module, place.lineno)
        if function is not None:
            why = f"torch.jit.script compiles `{function.qualname}`, too, and takes less of Python"
            return replace(finding, fix=Decline(why))
    return finding
