"""TCL106: reads of a tensor that look like none."""

from __future__ import annotations

import ast

from tclint.diagnostics import Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import HostRead
from tclint.semantics.values import tensor_in

from ..decisions.guesses import is_folded, is_likely_number
from ..decisions.reads import WAY_OUT, WHAT
from ..decisions.wording import consequence, loop_ids, short
from ..proofs.reads import is_captured, is_judged_elsewhere

_TRACED_IF_CAPTURED = frozenset({"size", "sizes", "slice"})
_NUMBERS = frozenset({"size", "slice", "index"})
# The ends of a range of numbers may be tensors, and so may the parameters of a distribution.
_TENSORS_ALLOWED = frozenset({"linspace", "logspace", "normal", "full"})


class HiddenHostRead(Rule[HostRead]):
    """A tensor is used where Python or torch needs a number.

    ## What it does
    Reports, in compiled code: a tensor as a size (`torch.zeros(n)`, `torch.arange(t.max())`,
    `x.view(n, -1)`), as a bound of a slice, as the index of a list; `torch.equal`,
    `torch.allclose`, `torch.is_nonzero`; `torch.cov` and `torch.corrcoef`.

    ## Why it hurts
    It is `.item()` without the name: the graph ends there and the CPU waits for the GPU. A slice
    sends the whole function to eager. Two kinds of sizes are exceptions: an input that is one
    integer on the CPU, and what is computed from literals and sizes alone.

    ## Fix safety
    Not fixed: where the number could come from instead is not to be seen.

    ## References
    - [Graph break GB0033](https://meta-pytorch.org/compile-graph-break-site/gb/gb0033.html)
    - [Graph break GB0124](https://meta-pytorch.org/compile-graph-break-site/gb/gb0124.html)
    """

    code = "TCL106"
    name = "hidden-host-read"
    summary = "a tensor used as a size, a bound or an index breaks the graph"
    on = HostRead
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0033", "GB0124", "GB7000")
    examples = (
        Untouched(
            "\ndef f(x):\n    n = x.argmax() + 1\n    return torch.zeros(n, 3) + x.sum()\n",
            reason="take sizes from shapes",
            proves=("GB0033", "host-sync"),
            title="a size",
        ),
        Untouched(
            "\ndef f(x):\n    y = x * 2\n    return y[: x.argmax()] * 2\n",
            reason="torch.arange",
            proves=("GB0124", "host-sync"),
            title="a slice",
        ),
        Untouched(
            "\ndef f(x):\n    y = [x, x * 2, x * 3]\n    return y[x[0].argmax()]\n",
            reason="stack the members",
            proves=("GB0124",),
            title="an index of a list",
        ),
        Untouched(
            "\ndef f(x):\n    return x * 2 if torch.equal(x, x.round()) else x\n",
            reason="(a == b).all()",
            proves=("GB0033",),
        ),
        Good(
            "\ndef f(x):\n    n = torch.div(x.shape[0], 2, rounding_mode='trunc')\n"
            "    y = torch.linspace(0, x.max(), 3)\n"
            "    return torch.zeros(x.shape[0], 3)[1:] + y + x[1:].split(1)[0], x.view(n, -1)\n",
            title="sizes of the shape",
        ),
    )

    def check(self, event: HostRead) -> Finding | None:
        """Report the ways to read that have no name of their own."""
        site, node = event.site, event.node
        what = WHAT.get(event.via)
        if what is None or is_judged_elsewhere(event):
            return None
        if event.via in _NUMBERS and is_likely_number(site, event.source):
            return None
        if is_captured(event) and event.via in _TRACED_IF_CAPTURED:
            return None
        if isinstance(node, ast.Call) and _takes_tensor(event, node):
            return None
        source = _member(event)
        if event.via == "size" and is_folded(site, source):
            return None
        end = consequence(site, always=event.via == "slice")
        ids = ("GB0124",) if event.via in ("slice", "index") else ("GB0033",)
        return Finding(
            f"`{short(site, source)}` is a tensor whose value is read: {what}{end}",
            Decline(WAY_OUT.get(event.via, "compute it outside of compiled code")),
            node=source if event.via in _NUMBERS else None,
            gb_ids=loop_ids(site, *ids),
        )


def _member(event: HostRead) -> ast.expr:
    """The tensor itself where it stands among other sizes."""
    if isinstance(event.source, (ast.Tuple, ast.List)):
        for part in event.source.elts:
            if tensor_in(event.site.value(part)) is not None:
                return part
    return event.source


def _takes_tensor(event: HostRead, call: ast.Call) -> bool:
    function = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if event.via == "sizes":
        return not any(tensor_in(event.site.value(argument)) for argument in call.args)
    return event.via == "size" and function in _TENSORS_ALLOWED
