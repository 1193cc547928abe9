"""TCL113: the message of an assert on a tensor is not a literal."""

from __future__ import annotations

import ast

from tclint.diagnostics import Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import TensorAssert

from ..proofs.conditions import is_tensor_condition
from ..proofs.messages import folded
from ..repairs.tensor_assert import repair_assert


class AssertMessageNotLiteral(Rule[TensorAssert]):
    """The message of an assert on a tensor is computed.

    ## What it does
    Reports asserts on tensors in compiled code whose message is an f-string with placeholders, a
    variable, a call or `"..." % x`. Literals, and what Python folds into one, are fine.

    ## Why it hurts
    Dynamo puts `assert tensor, "literal"` into the graph. It does not compute other messages, not
    even of shapes: the graph ends there, and in a loop the whole function falls back to eager.

    ## Fix safety
    Eager code keeps its assert and its message; compiled code gets the same assert with a literal
    that shows what the message would say. When it fails, compiled code raises RuntimeError
    with that text, so the fix is declined in a `try`.

    ## References
    - [Graph break GB0170](https://meta-pytorch.org/compile-graph-break-site/gb/gb0170.html)
    """

    code = "TCL113"
    name = "assert-message-not-literal"
    summary = "A computed message makes an assert on a tensor break the graph"
    on = TensorAssert
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0170",)
    examples = (
        Bad(
            """
def f(x: torch.Tensor):
    assert (x >= 0).all(), f"negative: {x.min()}"
    return x * 2
""",
            fixed="""
def f(x: torch.Tensor):
    if torch.compiler.is_compiling():
        assert (x >= 0).all(), "negative: `x.min()`"
    else:
        assert (x >= 0).all(), f"negative: {x.min()}"
    return x * 2
""",
            proves=("GB0170",),
            fails_on="(-torch.ones(3),)",
        ),
        Bad(
            """
MESSAGE = "negative"


def f(x: torch.Tensor):
    assert (x >= 0).all(), MESSAGE
    return x * 2
""",
            fixed="""
MESSAGE = "negative"


def f(x: torch.Tensor):
    if torch.compiler.is_compiling():
        assert (x >= 0).all(), "negative"
    else:
        assert (x >= 0).all(), MESSAGE
    return x * 2
""",
            proves=("GB0170",),
            fails_on="(-torch.ones(3),)",
            title="a constant by name",
        ),
        Untouched(
            """
def f(x: torch.Tensor):
    try:
        assert (x >= 0).all(), f"negative: {x.min()}"
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
    assert (x >= 0).all(), "x must not be " + "negative"
    assert x.ndim == 2, f"bad shape {x.shape}"
    return x * 2
""",
            title="literals, and messages about shapes",
        ),
    )

    def check(self, event: TensorAssert) -> Finding | None:
        """Report the message when the condition is a tensor's."""
        site, statement = event.site, event.statement
        if statement.msg is None or not isinstance(folded(statement.msg), ast.AST):
            return None
        if not is_tensor_condition(site, statement.test):
            return None
        text = site.text(statement.msg)
        message = f"`{text}` is computed, so the assert cannot stay in the graph"
        return Finding(message, repair_assert(site, statement), statement.msg)
