"""TCL106: reads of a tensor that look like none."""

from __future__ import annotations

from tclint.diagnostics import Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import HostRead

from ..decisions.guesses import is_folded, is_likely_number
from ..decisions.reads import WAY_OUT, WHAT, kind_of, member
from ..decisions.wording import consequence, loop_ids, short
from ..proofs.reads import is_captured, is_judged_elsewhere
from ..repairs.counted_loop import count_with_range
from ..repairs.slice_store import store_by_mask

_TRACED_IF_CAPTURED = frozenset({"number", "slice"})
_NUMBERS = frozenset({"number", "slice", "index"})


class HiddenHostRead(Rule[HostRead]):
    """A tensor is used where Python or torch needs a number.

    ## What it does
    Reports, in compiled code: a tensor as a size (`torch.zeros(n)`, `torch.arange(t.max())`,
    `x.view(n, -1)`), as a bound of a slice, as an index without dimensions; `torch.equal`,
    `torch.allclose`, `torch.is_nonzero`; `torch.cov` and `torch.corrcoef`.

    ## Why it hurts
    It is `.item()` without the name: the graph ends there and the CPU waits for the GPU. A slice
    sends the whole function to eager. Two kinds of sizes are exceptions: an input that is one
    integer on the CPU, and what is computed from literals and sizes alone.

    ## Fix safety
    A number that is stored into a slice is stored by a mask: `x[torch.arange(len(x)) < n] = 0`.
    That is safe where the bounds are counts or positions, and unsafe for others: a negative one
    would count from the end of a slice. A loop over `torch.arange(n)` whose variable is only a
    position counts with `range(n)`. Nothing else is fixed: where the number could come from instead
    is not to be seen.

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
        Bad(
            """
def f(x: torch.Tensor):
    y = x * 2
    for i in torch.arange(3, device=x.device):
        y = y + x[i] * y[i, 0]
    return y
""",
            unsafe="""
def f(x: torch.Tensor):
    y = x * 2
    for i in range(3):
        y = y + x[i] * y[i, 0]
    return y
""",
            proves=("GB7000",),
            title="positions of a loop",
        ),
        Bad(
            "\ndef f(x):\n    y = x.reshape(-1, 3) * 2\n"
            "    y[:, : (y > 1).sum()] = 0\n    return y\n",
            "(torch.tensor([[1.0, 0.2, 0.3], [0.4, 0.5, 0.1]]),)",
            fixed="\ndef f(x):\n    y = x.reshape(-1, 3) * 2\n"
            "    inside = torch.arange(y.shape[1], device=y.device) < (y > 1).sum()\n"
            "    y[:, inside] = 0\n    return y\n",
            proves=("GB0124", "host-sync"),
            title="a slice that is stored to",
        ),
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
            "\ndef f(x):\n    return x[x[:, 0].argmax()] * 2\n",
            reason="reshape(1)",
            proves=("GB0033",),
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
        site, kind = event.site, kind_of(event)
        what = WHAT.get(kind)
        if what is None or is_judged_elsewhere(event):
            return None
        if event.via in _NUMBERS and is_likely_number(site, event.source):
            return None
        if is_captured(event) and event.via in _TRACED_IF_CAPTURED:
            return None
        source = member(event)
        if event.via == "number" and is_folded(site, source):
            return None
        end = consequence(site, always=event.via == "slice")
        ids = ("GB0124",) if kind in ("slice", "index") else ("GB0033",)
        return Finding(
            f"{what.format(short(site, source))}{end}",
            _repair(event),
            node=source if event.via in _NUMBERS else None,
            gb_ids=loop_ids(site, *ids),
        )


def _repair(event: HostRead) -> Repair | Decline:
    if event.via == "slice":
        stored = store_by_mask(event.site, event.source, event.site.statement)
        if isinstance(stored, Repair):
            return stored
    counted = count_with_range(event.site, event.source) if event.via == "index" else None
    return counted or Decline(WAY_OUT.get(kind_of(event), "compute it outside of compiled code"))
