"""TCL102: `float()`, `int()`, `bool()` or `complex()` of a tensor in compiled code."""

from __future__ import annotations

from typing import Final

from tclint.diagnostics import Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import HostRead
from tclint.semantics.lattice import with_dtype
from tclint.torch_facts.dynamo_settings import SCALARS

from ..lib.facts.likely_numbers import is_likely_number_everywhere
from ..lib.judge.captured import settings_for
from ..lib.judge.promotion import FLOAT_OF_INTEGER
from ..lib.judge.verdict import Changes
from ..lib.rewrite.host_read import is_captured, repair_read
from ..lib.rewrite.torch_equivalents import CUT, is_whole
from ..lib.wording import NUMBER_INSTEAD, ON_SOME_PATHS, consequence, renumbered, short

_IDS = dict.fromkeys(("float", "int", "bool", "contains"), ("GB0124",))
_CAPTURED: Final = frozenset({"float", "int", "bool"})
_IDS |= dict.fromkeys(("complex", "range"), ("GB0059",))


class PythonNumberOfTensor(Rule[HostRead]):
    """Compiled code converts a tensor to a Python number."""

    code = "TCL102"
    name = "python-number-of-tensor"
    summary = "`float(tensor)` and similar conversions break the graph and wait for the device"
    instead = NUMBER_INSTEAD.format("the 0-d tensor itself")
    on = HostRead
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0124", "GB0059")
    settings = (SCALARS,)

    def check(self, event: HostRead) -> Finding | None:
        """Report the conversion unless it is traced."""
        ids = _IDS.get(event.via)
        if event.via == "range":
            ids = (renumbered(event.site, "GB0059", (2, 14), "GB0124"),)
        if ids is None or is_likely_number_everywhere(event):
            return None
        if is_captured(event) and event.via in _CAPTURED:
            return None
        reads = "may read" if event.sometimes else "reads"
        message = (
            f"`{event.site.text(event.node)}` {reads} a tensor on the host{consequence(event.site)}"
        )
        settings = settings_for(event) if event.via in _CAPTURED else ()
        return Finding(
            message,
            Decline(ON_SOME_PATHS) if event.sometimes else _repair(event),
            gb_ids=ids,
            cedes_to=event.site.facts.output,
            removed_by_settings=settings,
            instead=NUMBER_INSTEAD.format(f"the tensor `{short(event.site, event.source)}`"),
        )


def _repair(event: HostRead) -> Repair | Decline:
    dtype = event.tensor.dtype
    category = dtype.category if dtype else None
    if event.via in ("range", "contains"):
        operation = "in" if event.via == "contains" else event.via
        return Decline(f"`{operation}` needs Python numbers")
    if event.via == category:
        return repair_read(event)
    if event.via == "float" and category == "int":
        return repair_read(event, read=with_dtype(event.tensor, FLOAT_OF_INTEGER))
    if event.via == "float" and category is None:
        return repair_read(event, extra=Changes("an integer tensor does not become a float"))
    if event.via == "int" and category in ("float", None):
        template = "$source" if is_whole(event.source) else "$source.trunc()"
        return repair_read(event, template, extra=Changes(CUT))
    return Decline(
        f"`{event.via}` may change the number: the tensor's dtype is different, or not known"
    )
