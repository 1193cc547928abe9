"""TCL112: a tensor's value is fetched for an assert."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import TensorAssert

from ..proofs.conditions import HOST_FUNCTIONS, host_reads
from ..repairs.tensor_assert import repair_assert


class AssertHostRead(Rule[TensorAssert]):
    """An assert's condition is fetched from the device before it is tested.

    ## What it does
    Reports `.item()`, `bool(t)`, `float(t)`, `int(t)`, `torch.allclose`, `torch.equal` and
    `torch.is_nonzero` in the condition of an assert in compiled code.

    ## Why it hurts
    An assert on a tensor stays in the graph; an assert on a number read from one does not.

    ## Fix safety
    The read is dropped where only the truth matters, and in comparisons that come out the same:
    with a number that every dtype holds exactly, or of integers with integers.
    `torch.allclose(a, b)` becomes `torch.isclose(a, b).all()`, which it computes itself. Where a
    tensor would round the other side, or may be complex, eager code stays as it is; compiled code
    compares in float64. Unsafe where several reads are compared so, or shapes may differ. When
    such an assert fails, compiled code raises RuntimeError; in a `try` the fix is declined.

    ## References
    - [Graph break GB0124](https://meta-pytorch.org/compile-graph-break-site/gb/gb0124.html)
    - [Graph break GB0033](https://meta-pytorch.org/compile-graph-break-site/gb/gb0033.html)
    """

    code = "TCL112"
    name = "assert-host-read"
    summary = "`.item()`, `bool()` or `torch.allclose` in an assert breaks the graph"
    on = TensorAssert
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0124", "GB0033")
    examples = (
        Bad(
            """
def f(x: torch.Tensor):
    assert x.max().item() < 10, "too big"
    return x * 2
""",
            fixed="""
def f(x: torch.Tensor):
    assert x.max() < 10, "too big"
    return x * 2
""",
            proves=("GB0124",),
            fails_on="(torch.ones(3) * 11,)",
        ),
        Bad(
            """
def f(x: torch.Tensor):
    assert bool((x >= 0).all())
    return x * 2
""",
            fixed="""
def f(x: torch.Tensor):
    assert (x >= 0).all()
    return x * 2
""",
            proves=("GB0124",),
            fails_on="(-torch.ones(3),)",
        ),
        Bad(
            """
def f(x: torch.Tensor):
    assert torch.allclose(x, x.round(), atol=0.1)
    return x * 2
""",
            fixed="""
def f(x: torch.Tensor):
    assert torch.isclose(x, x.round(), atol=0.1).all()
    return x * 2
""",
            proves=("GB0033",),
            fails_on="(torch.ones(3) * 0.4,)",
        ),
        Bad(
            """
def f(x: torch.Tensor):
    assert x.max().item() < 0.1
    return x * 2
""",
            fixed="""
def f(x: torch.Tensor):
    if torch.compiler.is_compiling():
        assert x.max().double() < 0.1
    else:
        assert x.max().item() < 0.1
    return x * 2
""",
            inputs="(torch.zeros(3),)",
            fails_on="(torch.full((3,), 0.1),)",
            proves=("GB0124",),
            title="the bound is rounded",
        ),
        Untouched(
            """
def f(x: torch.Tensor):
    assert x.max().item() * 2 < 10
    return x * 2
""",
            reason="Python computes with the number",
            proves=("GB0124",),
        ),
        Good("\ndef f(x: torch.Tensor):\n    assert x.max() < 10\n    return x * 2\n"),
    )

    def check(self, event: TensorAssert) -> Finding | None:
        """Report the statement once, at its first read."""
        site, region = event.site, event.site.region
        captured = region is not None and region.capture_scalars
        for call in host_reads(site, event.statement.test):
            function = site.dotted(call.func) in HOST_FUNCTIONS
            if captured and not function:
                continue
            message = f"`{site.text(call)}` reads a tensor on the host"
            ids = ("GB0033",) if function else ("GB0124",)
            return Finding(message, repair_assert(site, event.statement), call, gb_ids=ids)
        return None
