"""TCL110: `assert not tensor` in compiled code."""

from __future__ import annotations

import ast

from tclint.diagnostics import Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import TensorAssert
from tclint.semantics.lattice import tensor_in

from ..proofs.conditions import goes_on_after_tensor, tail
from ..repairs.tensor_assert import repair_assert


class AssertNotTensor(Rule[TensorAssert]):
    """An assert's condition is negated with `not`.

    ## What it does
    Reports `assert not t` in compiled code where `t` is a tensor.

    ## Why it hurts
    Dynamo makes one operator of `assert t`, but `not t` asks for the truth of `t` in Python: the
    graph ends there, and the CPU waits for the GPU.

    ## Fix safety
    `torch.logical_not(t)` is true exactly where `not t` is, for every dtype (`~t` is not), and
    eager code raises the same AssertionError. `(x != -1).all()` says the same as `not (x ==
    -1).any()`, for NaN as well. What is only taken for a tensor, a parameter without
    annotation for one, stays: it may be a list. When the assert fails, compiled code raises
    RuntimeError, as it does for every assert on a tensor; in a `try` the fix is declined.

    ## References
    - [Graph break GB0170](https://meta-pytorch.org/compile-graph-break-site/gb/gb0170.html)
    """

    code = "TCL110"
    name = "assert-not-tensor"
    summary = "`assert not tensor` breaks the graph; `torch.logical_not` does not"
    on = TensorAssert
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0170",)
    examples = (
        Bad(
            """
def f(x: torch.Tensor):
    assert not torch.isnan(x).any(), "nan in x"
    return x * 2
""",
            fixed="""
def f(x: torch.Tensor):
    assert torch.logical_not(torch.isnan(x).any()), "nan in x"
    return x * 2
""",
            proves=("GB0170",),
            fails_on='(torch.tensor([1.0, float("nan")]),)',
        ),
        Bad(
            """
def f(x: torch.Tensor):
    assert x.ndim == 2 and not (x > 5).sum()
    return x * 2
""",
            fixed="""
def f(x: torch.Tensor):
    assert x.ndim == 2 and torch.logical_not((x > 5).sum())
    return x * 2
""",
            proves=("GB0170",),
            fails_on="[(torch.ones(4),), (torch.ones(2, 2) * 6,)]",
            title="a count, after a condition on the shape",
        ),
        Bad(
            """
def f(x: torch.Tensor):
    assert not torch.any(x == -1), "missing"
    return x * 2
""",
            fixed="""
def f(x: torch.Tensor):
    assert (x != -1).all(), "missing"
    return x * 2
""",
            proves=("GB0170",),
            inputs="[(torch.ones(3),), (torch.ones(0),), (torch.tensor([float('nan')]),)]",
            fails_on="(-torch.ones(3),)",
            title="a comparison that has an opposite",
        ),
        Untouched(
            """
def f(x: torch.Tensor):
    try:
        assert not (x < 0).any()
    except AssertionError:
        return x - 1
    return x * 2
""",
            reason="RuntimeError",
            proves=("GB0170",),
            title="the failure is caught",
        ),
        Good(
            """
def f(x: torch.Tensor):
    assert torch.isfinite(x).all(), "x is not finite"
    assert not isinstance(x, list)
    return x * 2
""",
        ),
    )

    def check(self, event: TensorAssert) -> Finding | None:
        """Report the negation when it is tested last; before that, splitting comes first."""
        site, test = event.site, event.statement.test
        negation = tail(test)
        if not isinstance(negation, ast.UnaryOp) or not isinstance(negation.op, ast.Not):
            return None
        if tensor_in(site.value(negation.operand)) is None or goes_on_after_tensor(site, test):
            return None
        text, repair = site.text(negation.operand), repair_assert(site, event.statement)
        return Finding(f"`not {text}` asks for a tensor's truth", repair, negation)
