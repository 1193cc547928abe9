"""TCL602: log of a sum of exponentials."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call

from ..lib.judge.verdict import Changes
from .operations import Operation, operation
from .replacing import replaced

_CHANGES: Final = Changes(
    "the last bits differ, and where an exponential overflowed or all were rounded to 0 the result "
    "is finite"
)


class LogsumexpByHand(Rule[Call]):
    """The logarithm of a sum of exponentials."""

    code = "TCL602"
    name = "logsumexp-by-hand"
    summary = "`x.exp().sum().log()` overflows where `torch.logsumexp` does not"
    instead = "Use `torch.logsumexp`"
    on = Call
    called = ("log",)
    effects = (Effect.NONE,)

    def check(self, event: Call) -> Finding | None:
        """Look for ``log(sum(exp(x)))``."""
        if event.function not in ("torch.log", "torch.Tensor.log"):
            return None
        site = event.site
        log = operation(site, event.node, "log")
        total = operation(site, log.subject, "sum") if log and log.takes_only(0) else None
        power = operation(site, total.subject, "exp") if total else None
        if log is None or total is None or power is None or not power.takes_only(0):
            return None
        if _is_shifted(power.subject):
            return None
        return Finding(
            "`exp` overflows before the logarithm is taken: the result is inf",
            _repair(event, log.node, total, power.subject),
            confidence=Confidence.MEDIUM,
        )


def _is_shifted(node: ast.expr) -> bool:
    return isinstance(node, (ast.BinOp, ast.UnaryOp)) and isinstance(node.op, (ast.Sub, ast.USub))


def _repair(event: Call, node: ast.Call, total: Operation, x: ast.expr) -> Repair | Decline:
    dim = total.argument(0, "dim", "axis")
    if dim is None:
        return Decline("the sum does not name its dimension, which `torch.logsumexp` needs")
    if not total.takes_only(2, "dim", "axis", "keepdim"):
        return Decline("the sum changes the dtype")
    arguments = {"x": x, "dim": dim}
    keep = total.argument(1, "keepdim")
    if keep is not None:
        arguments["keepdim"] = keep
    return replaced(
        event.site, node, "torch.logsumexp", arguments, _CHANGES, keeps=[x], keeps_result=True
    )
