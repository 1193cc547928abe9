"""TCL114: the message of an assert on a tensor is a constant, but no string."""

from __future__ import annotations

import ast

from tclint.diagnostics import Effect
from tclint.lint.rule import Bad, Finding, Good, Rule
from tclint.semantics.events import TensorAssert

from ..proofs.conditions import goes_on_after_tensor, is_tensor_condition
from ..proofs.messages import folded
from ..repairs.tensor_assert import repair_assert


class AssertMessageType(Rule[TensorAssert]):
    """The message of an assert on a tensor is a number, None or a tuple of constants.

    ## What it does
    Reports asserts on tensors in compiled code whose message is a constant other than a string.

    ## Why it hurts
    The compiled function raises `TypeError: _assert_async(): argument 'assert_msg' must be str`
    on every call, also when the condition holds. Eager code works.

    ## Fix safety
    Eager code keeps its assert and its message; compiled code gets the same assert with the
    constant written as a string. In a `try` the fix is declined.

    ## References
    - [torch.compile](https://docs.pytorch.org/docs/stable/generated/torch.compile.html)
    """

    code = "TCL114"
    name = "assert-message-type"
    summary = "A message that is no string makes the compiled assert raise TypeError"
    on = TensorAssert
    effects = (Effect.INVALID,)
    examples = (
        Bad(
            """
def f(x: torch.Tensor):
    assert (x >= 0).all(), ("negative", 1)
    return x * 2
""",
            fixed="""
def f(x: torch.Tensor):
    if torch.compiler.is_compiling():
        assert (x >= 0).all(), "('negative', 1)"
    else:
        assert (x >= 0).all(), ("negative", 1)
    return x * 2
""",
            proves=("raises",),
            fails_on="(-torch.ones(3),)",
        ),
        Bad(
            """
def f(x: torch.Tensor):
    assert (x >= 0).all(), 42
    return x * 2
""",
            fixed="""
def f(x: torch.Tensor):
    if torch.compiler.is_compiling():
        assert (x >= 0).all(), "42"
    else:
        assert (x >= 0).all(), 42
    return x * 2
""",
            proves=("raises",),
            fails_on="(-torch.ones(3),)",
        ),
        Good(
            "\ndef f(x: torch.Tensor):\n    assert (x >= 0).all(), 'negative'\n    return x * 2\n"
        ),
    )

    def check(self, event: TensorAssert) -> Finding | None:
        """Report the message where the assert stays in the graph otherwise."""
        site, statement = event.site, event.statement
        if statement.msg is None or not is_tensor_condition(site, statement.test):
            return None
        constant = folded(statement.msg)
        if isinstance(constant, (str, ast.AST)) or goes_on_after_tensor(site, statement.test):
            return None
        text = site.text(statement.msg)
        message = f"`{text}` is no string, so the compiled assert raises TypeError"
        return Finding(message, repair_assert(site, statement), statement.msg)
