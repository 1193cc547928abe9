"""TCL603: exponentials divided by their sum."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call
from tclint.semantics.site import Site

from ..lib.facts.reaching import block_of, reads_until_rebound
from ..lib.judge.verdict import Changes
from .def_use import definition, removing
from .operations import Operation, operation, same
from .replacing import replaced

_CHANGES: Final = Changes(
    "the last bits differ, and where an exponential overflowed the result is finite"
)


class SoftmaxByHand(Rule[Call]):
    """Exponentials divided by their sum."""

    code = "TCL603"
    name = "softmax-by-hand"
    summary = "`exp(x)` divided by its sum is `F.softmax`, which does not overflow"
    instead = "Use `F.softmax`"
    on = Call
    called = ("sum",)
    effects = (Effect.LAUNCH_OVERHEAD,)

    def check(self, event: Call) -> Finding | None:
        """Look for a quotient by a sum."""
        if event.function not in ("torch.sum", "torch.Tensor.sum"):
            return None
        site = event.site
        total = operation(site, event.node, "sum")
        quotient = site.parent(event.node)
        if total is None or not isinstance(quotient, ast.BinOp) or quotient.right is not total.node:
            return None
        if not isinstance(quotient.op, ast.Div) or not same(quotient.left, total.subject):
            return None
        stored = definition(site, total.subject)
        power = operation(site, stored.value if stored else total.subject, "exp")
        if power is None or not power.takes_only(0):
            return None
        dim, keep = total.argument(0, "dim", "axis"), total.argument(1, "keepdim")
        if dim is None or not isinstance(keep, ast.Constant) or keep.value is not True:
            return None  # over all elements it is a window that is normalised
        return Finding(
            "A softmax by hand: several kernels, and `exp` may overflow to NaN",
            _repair(event.site, (quotient, power.subject, dim), total, stored),
            node=quotient,
            confidence=Confidence.MEDIUM,
        )


def _repair(
    site: Site,
    parts: tuple[ast.BinOp, ast.expr, ast.expr],
    total: Operation,
    stored: ast.Assign | None,
) -> Repair | Decline:
    quotient, x, dim = parts
    if not total.takes_only(2, "dim", "axis", "keepdim"):
        return Decline("the sum changes the dtype")
    softmax = "torch.nn.functional.softmax"
    fix = replaced(
        site, quotient, softmax, {"x": x, "dim": dim}, _CHANGES, leaves=True, keeps_result=True
    )
    if stored is None or isinstance(fix, Decline):
        return fix
    return _alone(site, stored, quotient, fix)


def _alone(site: Site, stored: ast.Assign, quotient: ast.BinOp, fix: Repair) -> Repair | Decline:
    """The repair, if the variable is there for the quotient alone, right behind it."""
    name = ast.unparse(stored.targets[0])
    reads = reads_until_rebound(site, stored, name) or []
    if {*reads} - {*ast.walk(quotient)} or not reads:
        return Decline(f"`{name}` is used again")
    block = block_of(site, stored)
    behind = block[block.index(stored) + 1]
    if quotient not in ast.walk(behind):
        return Decline(f"other statements run between `{name}` and its use")
    return removing(fix, (stored,))
