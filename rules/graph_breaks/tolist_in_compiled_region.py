"""TCL103: `.tolist()` in compiled code."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import HostRead
from tclint.torch_facts.dynamo_settings import SCALARS

from ..lib.facts.selections import is_selected
from ..lib.rewrite.host_read import is_captured, repair_read
from ..lib.rewrite.range_loop import count_list
from ..lib.wording import consequence, short

_KEEP: Final = "Compute with {}, or make the list before the compiled call and pass it in"


class TolistInCompiledRegion(Rule[HostRead]):
    """Compiled code copies a whole tensor into a Python list."""

    code = "TCL103"
    name = "tolist-in-compiled-region"
    summary = "`.tolist()` in compiled code breaks the graph and copies the tensor to the host"
    instead = _KEEP.format("the tensor")
    on = HostRead
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0109", "GB0033")
    settings = (SCALARS,)

    def check(self, event: HostRead) -> Finding | None:
        """Report the call unless an integer tensor of a known length is traced through."""
        if event.via != "tolist":
            return None
        dtype = event.tensor.dtype
        category = dtype.category if dtype else None
        if is_captured(event) and category == "int" and _is_known_length(event):
            return None
        ids = {"int": ("GB0033",), None: self.gb_ids}.get(category, ("GB0109",))
        assert isinstance(event.node, ast.expr)
        message = (
            f"`{event.site.text(event.node)}` copies a tensor to the host{consequence(event.site)}"
        )
        lengths = category in ("int", None) and _are_lengths(event)
        return Finding(
            message,
            _repair(event, event.node),
            gb_ids=ids,
            cedes_to=event.site.facts.output,
            instead=_KEEP.format(f"`{short(event.site, event.source)}`"),
            removed_by_settings=(SCALARS,) if lengths else (),
        )


def _is_known_length(event: HostRead) -> bool:
    """True where the list has a length that does not depend on how much a mask selects."""
    return not isinstance(event.node, ast.expr) or not is_selected(event.site, event.node)


def _are_lengths(event: HostRead) -> bool:
    """True for the lengths that `split` cuts a tensor into; `view` takes -1, too."""
    call = event.site.parent(event.node)
    func = call.func if isinstance(call, ast.Call) and event.node in call.args else None
    return isinstance(func, ast.Attribute) and func.attr in ("split", "split_with_sizes")


def _repair(event: HostRead, node: ast.expr) -> Repair | Decline:
    if event.tensor.rank == 0:
        return repair_read(event)
    counted = count_list(event.site, node, event.source)
    if counted is not None:
        return counted
    return Decline("the surrounding code needs Python numbers")
