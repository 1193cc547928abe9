"""The way round an output call that the configuration asks for."""

from __future__ import annotations

from collections.abc import Callable

from tclint.diagnostics import Applicability, Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.events import SideEffectCall

from .decision import is_output
from .evaluation import arguments, binds_or_waits, prints_alike, skipped_effects
from .graph_print import graph_print
from .guard import guard
from .place import insert_above, own_statement, why_not_alone
from .torch_name import torch_name
from .trace_time import trace_time

REORDERABLE = "torch._dynamo.config.reorderable_logging_functions"


def repair_output(event: SideEffectCall) -> Repair | Decline:
    """Repair an output call in the style of ``side-effects``."""
    return _STYLES[event.site.settings.side_effects](event)


def remove(event: SideEffectCall) -> Repair | Decline:
    """Delete the call."""
    site, statement = event.site, own_statement(event)
    obstacle = why_not_alone(event) if statement is None else binds_or_waits(statement)
    if statement is None or obstacle is not None:
        return Decline(str(obstacle))
    skipped = skipped_effects(site, statement, lambda node: is_output(event, node))
    changes = "the output is gone, in eager too"
    if skipped:
        changes += f", and {skipped} is no longer evaluated"
    return Repair("Remove it", (Replace(statement, ""),), Applicability.UNSAFE, changes)


def reorder(event: SideEffectCall) -> Repair | Decline:
    """Name the setting that makes Dynamo print after the graph has run."""
    site = event.site
    if event.sink != "print" or site.dotted(event.call.func) != "print":
        return Decline(f"`{REORDERABLE}` works for `print` only")
    if any(k.arg == "file" for k in event.call.keywords) or not all(
        prints_alike(site, argument) for argument in arguments(event.call)
    ):
        return Decline(f"`{REORDERABLE}` takes only tensors, constants and formatted strings")
    spelled = torch_name(site, REORDERABLE, top_level=True)
    if isinstance(spelled, Decline):
        return spelled
    name, imports = spelled
    return Repair(
        f"Run `{name}.add(print)` before compiling: the print then follows the graph",
        (*imports, insert_above(site, f"{name}.add(print)")),
        Applicability.DISPLAY,
        "tensors that are written in place after the print show their later values",
    )


_STYLES: dict[str, Callable[[SideEffectCall], Repair | Decline]] = {
    "guard": guard,
    "graph-print": graph_print,
    "remove": remove,
    "reorder": reorder,
    "trace-time": trace_time,
}
