"""TCL104: text made from a tensor in compiled code."""

from __future__ import annotations

import ast

from tclint.diagnostics import Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import HostRead
from tclint.semantics.site import Site

from ..lib.facts.texts import enclosing_text, is_handed_out
from ..lib.wording import consequence, renumbered

_IDS = {"str": ("GB0059",), "repr": ("GB0569",)}


class TensorFormatted(Rule[HostRead]):
    """Compiled code converts a tensor to a string."""

    code = "TCL104"
    name = "tensor-formatted"
    summary = "Converting a tensor to a string in compiled code breaks the graph"
    instead = "Return the tensor, and make the string outside of compiled code"
    on = HostRead
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0059", "GB0088", "GB0569", "GB0208", "GB0033")

    def check(self, event: HostRead) -> Finding | None:
        """Report the text unless Dynamo can put off making it."""
        if event.via != "format":
            return None
        site, node = event.site, event.node
        assert isinstance(node, ast.expr)
        deferrable = _is_deferrable(site, node, event.source)
        if deferrable and is_handed_out(site, node):
            return None
        function = site.text(node.func) if isinstance(node, ast.Call) else "%"
        message = f"The tensor `{site.text(event.source)}` becomes a string{consequence(site)}"
        ids = _IDS.get(function, self.gb_ids)
        if deferrable:
            ids = (renumbered(site, "GB0156", (2, 12), "GB0088"),)
        elif function == "str":
            ids = (renumbered(site, "GB0059", (2, 14), "GB0569"),)
        return Finding(
            message,
            _repair(event, node, function),
            event.source,
            gb_ids=ids,
            cedes_to=site.facts.output,
        )


def _is_deferrable(site: Site, node: ast.expr, source: ast.expr) -> bool:
    field = site.parent(source)
    if isinstance(field, ast.FormattedValue) and enclosing_text(site, field) is node:
        return field.conversion == -1
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return called and node is not source


def _repair(event: HostRead, node: ast.expr, function: str) -> Repair | Decline:
    percent = node is event.source or isinstance(node, ast.Tuple)
    if not percent and not is_handed_out(event.site, node):
        return Decline("the code uses the string later")
    plain = not set("\"'\\\n") & set(event.site.text(event.source))
    if function in ("str", "repr") and event.tensor.rank and plain:
        rewrite = Replace(node, 'f"{$source}"', {"source": event.source})
        return Repair("Format with an f-string", (rewrite,))
    return Decline("an f-string may give a different string")
