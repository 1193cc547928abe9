"""TCL101: `.item()` in compiled code."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import HostRead

from ..proofs.reads import is_captured, is_judged_elsewhere, repair_read


class ItemInCompiledRegion(Rule[HostRead]):
    """A tensor's value is fetched with `.item()` where Dynamo traces.

    ## What it does
    Reports `tensor.item()` in compiled code, unless the region captures scalars (`fullgraph=True`
    or `torch._dynamo.config.capture_scalar_outputs`).

    ## Why it hurts
    The value lives on the device. Dynamo ends the graph, the CPU waits for the GPU, and a second
    graph takes the number as its input, for which it is compiled once more when the number
    changes. In a loop or a `try` the whole function falls back to eager.

    ## Fix safety
    The read becomes `.detach().clone()`, or `.detach()` where the tensor was computed here and is
    only read, so that nobody can write it. A clone is one small kernel in eager code and nothing in
    a compiled graph. The number is followed through variables, arithmetic, `abs`, `max`, `min`,
    `int` and `float`. That is safe when the tensor has no dimensions, the number only meets tensors
    whose dtype it cannot change, and the arithmetic gives the same bits: in float64, one operation
    of float32 values that meets float32, whole numbers that are counts. It is unsafe where a dtype,
    a rounding, or the type of something stored or returned may change, where a parameter without
    annotation may be a numpy array, where the variable holds a plain number on other paths
    (`torch.jit.script` takes one type), and declined where Python needs a number: a branch, a size,
    a result or an argument that is declared as a number. Results are bit-equal, with one exception:
    on a GPU, `tensor / number` multiplies by the reciprocal and `tensor / tensor` divides, so the
    last bit can differ (H200, float32: in 9 to 24% of the elements; half types: in none).

    ## References
    - [Graph break GB0124](https://meta-pytorch.org/compile-graph-break-site/gb/gb0124.html)
    """

    code = "TCL101"
    name = "item-in-compiled-region"
    summary = "`.item()` in compiled code breaks the graph and waits for the device"
    on = HostRead
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0124",)
    examples = (
        Bad(
            """
def f(x: torch.Tensor):
    top = x.max().item()
    return x / top + 1
""",
            fixed="""
def f(x: torch.Tensor):
    top = x.max().detach()
    return x / top + 1
""",
            proves=("GB0124", "host-sync"),
            title="the number meets only tensors",
        ),
        Bad(
            """
def f(x: torch.Tensor):
    y = x.reshape(-1) * 1
    first = y[0].item()
    y.add_(1)
    return y * first
""",
            fixed="""
def f(x: torch.Tensor):
    y = x.reshape(-1) * 1
    first = y[0].detach().clone()
    y.add_(1)
    return y * first
""",
            proves=("GB0124", "host-sync"),
            title="the tensor is written after the read",
        ),
        Bad(
            """
def f(x: torch.Tensor):
    y = x * 2
    return y, y.sum().item()
""",
            unsafe="""
def f(x: torch.Tensor):
    y = x * 2
    return y, y.sum().detach()
""",
            proves=("GB0124", "host-sync"),
            title="the number is returned",
        ),
        Bad(
            """
def f(x):
    return x / x.max().item()
""",
            unsafe="""
def f(x):
    return x / x.max().detach()
""",
            proves=("GB0124", "host-sync"),
            title="a parameter that may be a numpy array",
        ),
        Untouched(
            """
def f(x: torch.Tensor):
    return torch.add(x, x, alpha=x.max().item())
""",
            reason="`alpha=` of `torch.add`",
            proves=("GB0124", "host-sync"),
            title="the argument takes only numbers",
        ),
        Good(
            """
@torch.compile(fullgraph=True)
def f(x: torch.Tensor):
    return x * x.max().item()
""",
            title="scalars are captured",
        ),
    )

    def check(self, event: HostRead) -> Finding | None:
        """Report the call unless it is traced or an outer rule judges the statement."""
        if event.via != "item" or is_captured(event) or is_judged_elsewhere(event):
            return None
        text = event.site.text(event.node)
        return Finding(f"`{text}` reads a tensor on the host", repair_read(event))
