"""TCL111: `and`, `or` and comparison chains on tensors in an assert."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import TensorAssert

from ..proofs.conditions import goes_on_after_tensor
from ..repairs.tensor_assert import repair_assert


class AssertBooleanOperator(Rule[TensorAssert]):
    """An assert combines conditions on tensors with Python's operators.

    ## What it does
    Reports `assert a and b`, `assert a or b` and `assert low <= t < high` in compiled code where
    something is evaluated after a tensor's truth. Conditions on shapes and types may stand first.

    ## Why it hurts
    Dynamo makes one operator of `assert t`, but `and`, `or` and chains decide in Python whether to
    go on: the graph ends there, and the CPU waits for the GPU.

    ## Fix safety
    `and` becomes two asserts with the same message, and so does a chain whose middle can be
    evaluated twice: eager code does the same in the same order. `or` becomes `|` where both sides
    are tensors without dimensions and evaluating the second can neither raise nor write;
    otherwise it is declined. Eager code keeps the assert as it is where the message is computed,
    and where `|` would join two tensors that may be on two GPUs. Nothing is changed unless all of
    the assert stays in the graph then. When it fails, compiled code raises RuntimeError.

    ## References
    - [Graph break GB0170](https://meta-pytorch.org/compile-graph-break-site/gb/gb0170.html)
    """

    code = "TCL111"
    name = "assert-boolean-operator"
    summary = "`and`, `or` and chains on tensors in an assert break the graph"
    on = TensorAssert
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0170",)
    examples = (
        Bad(
            """
def f(x: torch.Tensor):
    assert (x >= 0).all() and (x < 9).all(), "out of range"
    return x * 2
""",
            fixed="""
def f(x: torch.Tensor):
    assert (x >= 0).all(), "out of range"
    assert (x < 9).all(), "out of range"
    return x * 2
""",
            proves=("GB0170",),
            fails_on="[(-torch.ones(3),), (torch.ones(3) * 9,)]",
        ),
        Bad(
            """
def f(x: torch.Tensor):
    assert 0 <= x.min() < 9
    return x * 2
""",
            fixed="""
def f(x: torch.Tensor):
    assert 0 <= x.min()
    assert x.min() < 9
    return x * 2
""",
            proves=("GB0170",),
            fails_on="[(-torch.ones(3),), (torch.ones(3) * 9,)]",
            title="a chain",
        ),
        Bad(
            """
def f(x: torch.Tensor):
    assert (x >= 0).all() or (x < -9).all()
    return x * 2
""",
            fixed="""
def f(x: torch.Tensor):
    assert (x >= 0).all() | (x < -9).all()
    return x * 2
""",
            proves=("GB0170",),
            fails_on="(-torch.ones(3),)",
            title="alternatives",
        ),
        Untouched(
            """
def f(x: torch.Tensor):
    assert (x >= 0).all() or (x / x.max() < 2).all()
    return x * 2
""",
            reason="may raise",
            proves=("GB0170",),
            title="the second alternative may raise",
        ),
        Good(
            """
def f(x: torch.Tensor):
    assert x.ndim == 2 and (x >= 0).all()
    return x * 2
""",
            title="the tensor comes last",
        ),
    )

    def check(self, event: TensorAssert) -> Finding | None:
        """Report the assert once, for the outermost operator."""
        site, test = event.site, event.statement.test
        if not goes_on_after_tensor(site, test):
            return None
        return Finding(
            "Python's operators ask for a tensor's truth before the assert does",
            repair_assert(site, event.statement),
            test,
        )
