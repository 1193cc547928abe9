"""TCL601: the logarithm of a softmax or a sigmoid."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Confidence, Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call
from tclint.semantics.values import Object

from ..lib.judge.verdict import Changes
from .operations import Operation, operation
from .replacing import replaced

_LAYERS: Final = {
    "torch.nn.Softmax": "nn.LogSoftmax",
    "torch.nn.Sigmoid": "nn.LogSigmoid",
}
_CHANGES: Final = Changes(
    "the last bits differ, and where the probability was rounded to 0 the result is finite "
    "instead of -inf"
)


class LogOfSoftmax(Rule[Call]):
    """The logarithm of a softmax or a sigmoid."""

    code = "TCL601"
    name = "log-of-softmax"
    summary = "`log(softmax(x))` loses small probabilities that `log_softmax` keeps"
    instead = "Use `F.log_softmax` or `F.logsigmoid`"
    on = Call
    called = ("log",)
    effects = (Effect.LAUNCH_OVERHEAD,)

    def check(self, event: Call) -> Finding | None:
        """Look at what a logarithm is taken of."""
        if event.function not in ("torch.log", "torch.Tensor.log"):
            return None
        log = operation(event.site, event.node, "log")
        if log is None or not log.takes_only(0):
            return None
        inner = operation(event.site, log.subject, "softmax", "sigmoid")
        layer = None if inner else _layer(event, log.subject)
        if inner is None and layer is None:
            return None
        fix = _repair(event, log.node, inner) if inner else Advice(f"use `{layer}` as the layer")
        name = inner.name if inner else str(layer).removeprefix("nn.Log").lower()
        return Finding(
            f"The logarithm of a {name}: small probabilities become 0, and their logarithm -inf",
            fix,
            confidence=Confidence.MEDIUM,
        )


def _layer(event: Call, node: ast.expr) -> str | None:
    called = event.site.value(node.func) if isinstance(node, ast.Call) else None
    return _LAYERS.get(called.name) if isinstance(called, Object) else None


def _repair(event: Call, node: ast.Call, inner: Operation) -> Repair | Decline:
    functional = "torch.nn.functional."
    if inner.name == "sigmoid":
        return replaced(event.site, node, f"{functional}logsigmoid", {"x": inner.subject}, _CHANGES)
    dim = inner.argument(0, "dim", "axis")
    if dim is None or not inner.takes_only(1, "dim", "axis", "dtype"):
        return Decline("the softmax does not name its dimension")
    arguments = {"x": inner.subject, "dim": dim}
    if "dtype" in inner.named:
        arguments["dtype"] = inner.named["dtype"]
    function = f"{functional}log_softmax"
    return replaced(event.site, node, function, arguments, _CHANGES, keeps_result=True)
