"""TCL607: a cross-entropy written by hand."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import Call
from tclint.semantics.syntax import nodes

from .losses import Loss, loss
from .replacing import replaced
from .straight import reaches, removing, unused_without

_CHANGES: Final = (
    "the last bits differ; class -100 is ignored and other negative classes raise, where an index "
    "counted them from the end; classes must be int64, and weights have the logits' dtype and no "
    "gradient"
)
_INPUTS: Final = "(torch.rand(4, 3), torch.tensor([0, 2, 1, 1]))"


class CrossEntropyByHand(Rule[Call]):
    """A cross-entropy, written by hand.

    ## What it does
    Reports `-log_p[range(n), target].mean()` where `log_p` is `log_softmax(logits, dim=1)`, the
    same with `gather`, and the weighted form `-(w * picked).sum() / w.sum()` with `w =
    weight[target]`.

    ## Why it hurts
    `F.cross_entropy` does all of it in two kernels. The forward pass of the weighted form, 4,096
    rows on an H200: 0.35 ms as people write it, with the weights copied and the rows counted on
    the host; 0.13 ms without those copies, 0.09 ms compiled, 0.017 ms as `F.cross_entropy`.

    ## Fix safety
    Both compute `sum(-w[t] * log_softmax(x)[t]) / sum(w[t])`, with `w = 1` where there are no
    weights, for classes from 0 up to their number. Unsafe: sums are taken in another order, and
    other classes are treated differently. Checks of the range stay where they are.

    ## References
    - [F.cross_entropy](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cross_entropy.html)
    """

    code = "TCL607"
    name = "cross-entropy-by-hand"
    summary = "picking log-probabilities by index takes many kernels where cross_entropy takes two"
    on = Call
    called = ("mean", "sum")
    effects = (Effect.LAUNCH_OVERHEAD,)
    examples = (
        Bad(
            "\ndef f(x, target, weight: torch.Tensor):\n    assert target.max() < 3\n"
            "    n = x.shape[0]\n    x = torch.log_softmax(x, dim=1)\n"
            "    picked = x[range(n), target]\n    weight = weight[target]\n"
            "    return -(weight * picked).sum() / weight.sum()\n",
            "(torch.rand(4, 3), torch.tensor([0, 2, 1, 1]), torch.tensor([1.0, 2.0, 4.0]))",
            unsafe="\ndef f(x, target, weight: torch.Tensor):\n    assert target.max() < 3\n"
            "    return F.cross_entropy(x, target, weight=weight)\n",
            title="weighted",
        ),
        Bad(
            "\ndef f(x, target):\n"
            "    return -F.log_softmax(x, dim=1).gather(1, target[:, None]).mean()\n",
            _INPUTS,
            unsafe="\ndef f(x, target):\n    return F.cross_entropy(x, target)\n",
            title="gather",
        ),
        Untouched(
            "\ndef f(x, target):\n    x = F.log_softmax(x, dim=1)\n"
            "    loss = -x[torch.arange(len(target)), target].mean()\n    return loss, x\n",
            reason="`x` has changed",
            inputs=_INPUTS,
            title="log-probabilities in the place of the logits",
        ),
        Good(
            "\ndef f(x, target):\n    p = x.log_softmax(1)\n"
            "    rows = torch.arange(len(target))\n"
            "    return p[rows, target].mean(), -x[rows, target].mean(), -p[rows, target].sum()\n",
            _INPUTS,
            title="other formulas",
        ),
    )

    def check(self, event: Call) -> Finding | None:
        """Look at averages, and at sums divided by a sum."""
        found = loss(event.site, event.node)
        if found is None:
            return None
        return Finding(
            "This formula is a cross-entropy: `F.cross_entropy` takes two kernels for it",
            _repair(event, found),
            node=found.whole,
            confidence=Confidence.MEDIUM,
        )


def _repair(event: Call, found: Loss) -> Repair | Decline:
    site = event.site
    arguments = {"x": found.logits, "target": found.target}
    if found.weight is not None:
        arguments["weight"] = found.weight
    needed = {n.id for part in arguments.values() for n in nodes(part) if isinstance(n, ast.Name)}
    dropped = unused_without(site, found.whole, found.assignments(site), needed)
    if isinstance(dropped, Decline):
        return dropped
    for part in arguments.values():
        if not reaches(site, part, found.whole, dropped):
            return Decline(f"`{site.text(part)}` has changed when the loss is computed")
    function = "torch.nn.functional.cross_entropy"
    fix = replaced(site, found.whole, function, arguments, _CHANGES, positional=2, leaves=True)
    if isinstance(fix, Decline):
        return fix
    return removing(fix, dropped)
