"""TCL110: `assert not tensor` in compiled code."""

from __future__ import annotations

import ast

from tclint.diagnostics import Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import TensorAssert
from tclint.semantics.lattice import options, tensor_in
from tclint.semantics.site import Site
from tclint.semantics.values import NONE

from ..proofs.conditions import caught, goes_on_after_tensor, tail
from ..proofs.declared import takes_numbers


class AssertNotTensor(Rule[TensorAssert]):
    """An assert's condition is negated with `not`.

    ## What it does
    Reports `assert not t` in compiled code where `t` is a tensor.

    ## Why it hurts
    Dynamo makes one operator of `assert t`, but `not t` asks for the truth of `t` in Python: the
    graph ends there, and the CPU waits for the GPU.

    ## Fix safety
    `torch.logical_not(t)` is true exactly where `not t` is, for every dtype (`~t` is not), and
    eager code raises the same AssertionError. When the assert fails, compiled code raises
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
def f(x):
    assert not torch.isnan(x).any(), "nan in x"
    return x * 2
""",
            fixed="""
def f(x):
    assert torch.logical_not(torch.isnan(x).any()), "nan in x"
    return x * 2
""",
            proves=("GB0170",),
            fails_on='(torch.tensor([1.0, float("nan")]),)',
        ),
        Bad(
            """
def f(x):
    assert x.ndim == 2 and not (x > 5).sum()
    return x * 2
""",
            fixed="""
def f(x):
    assert x.ndim == 2 and torch.logical_not((x > 5).sum())
    return x * 2
""",
            proves=("GB0170",),
            fails_on="[(torch.ones(4),), (torch.ones(2, 2) * 6,)]",
            title="a count, after a condition on the shape",
        ),
        Untouched(
            """
def f(x):
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
def f(x):
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
        text = site.text(negation.operand)
        return Finding(f"`not {text}` asks for a tensor's truth", _repair(site, negation), negation)


def _repair(site: Site, negation: ast.UnaryOp) -> Repair | Decline:
    refusal = caught(site) or takes_numbers(site, negation.operand)
    if refusal is not None:
        return refusal
    if NONE in options(site.value(negation.operand)):
        return Decline("the tensor may be None, which `torch.logical_not` does not take")
    spelled = site.spell("torch.logical_not")
    if spelled is None:
        return Decline("the file does not import torch")
    rewrite = Replace(negation, f"{spelled}($tensor)", {"tensor": negation.operand})
    return Repair("Use `torch.logical_not`", (rewrite,))
