"""TCL330: a tensor is copied to the host in compiled code."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Confidence, Effect, Worth
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call
from tclint.semantics.lattice import tensor_in
from tclint.semantics.site import Site
from tclint.semantics.values import Tensor

from ..lib.facts.copies import is_copy_to_host

# What reads the copy breaks the graph there: other rules say so.
_READS: Final = frozenset({"item", "tolist"})
_DEVICES: Final = ("device", "is_cuda", "mps", "npu", "xla", "xpu")


class CopyToHostInRegion(Rule[Call]):
    """A tensor is copied to the host."""

    code = "TCL330"
    name = "copy-to-host-in-region"
    summary = "`.cpu()` in compiled code makes the CPU wait for the device"
    instead = "Compute on the device, or copy once, after the compiled code"
    worth = Worth.MEDIUM
    measured = "0.06 to 0.3 ms a call (H200)"
    on = Call
    called = ("cpu", "to")
    effects = (Effect.HOST_SYNC,)

    def check(self, event: Call) -> Finding | None:
        """Report copies of tensors that are not on the host already."""
        site, owner = event.site, event.owner
        if site.region is None or not site.region.explicit:
            return None
        if not isinstance(owner, Tensor) or owner.device == "cpu":
            return None
        if not is_copy_to_host(site, event.call):
            return None
        if _asks_for_device(site, event.node) or _is_read(site, event.call):
            return None
        return Finding(
            f"`{site.text(event.call.func)}(...)` copies to the host, and the CPU waits for it",
            confidence=Confidence.MEDIUM if owner.assumed else None,
        )


def _asks_for_device(site: Site, node: ast.AST) -> bool:
    """True below a condition about the device, or beside a place that restores it."""
    tests = [outer.test for outer in site.ancestors(node) if isinstance(outer, (ast.If, ast.IfExp))]
    return any(word in site.text(test).lower() for test in tests for word in _DEVICES)


def _is_read(site: Site, call: ast.Call) -> bool:
    outer = site.parent(call)
    while isinstance(outer, (ast.Attribute, ast.Call)):
        if isinstance(outer, ast.Attribute) and outer.attr in _READS:
            return True
        if isinstance(outer, ast.Call) and tensor_in(site.value(outer)) is None:
            return False
        outer = site.parent(outer)
    return False
