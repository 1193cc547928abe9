"""TCL165: a check that raises depends on a tensor."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import TensorBranch

from ..decisions.draws import draws, is_number_of_library
from ..decisions.guesses import is_likely_number
from ..decisions.tests import decided_if, is_guard
from ..decisions.wording import at_most_medium, consequence, loop_ids, short
from ..repairs.compiled_assert import assert_when_compiled

_KINDS = ("if", "compare")


class ValidationGuard(Rule[TensorBranch]):
    """A check on a tensor's value raises an exception.

    ## What it does
    Reports `if` statements in compiled code whose test is a tensor and whose body ends in `raise`.

    ## Why it hurts
    In the good case nothing happens, and for that the graph ends and the CPU waits for the GPU.
    `assert tensor, "literal message"` stays in the graph: the check runs on the device.

    ## Fix safety
    Eager code keeps the check as it is: safe. Compiled code gets `torch._assert_async`, an operator
    of the graph. Where the check fails, compiled code then raises RuntimeError with the literal
    parts of the message, and on a GPU it does so when the device gets there.

    ## References
    - [Graph break GB0170](https://meta-pytorch.org/compile-graph-break-site/gb/gb0170.html)
    """

    code = "TCL165"
    name = "validation-guard"
    summary = "a check of a tensor's value that raises breaks the graph"
    on = TensorBranch
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0170", "GB7000")
    examples = (
        Bad(
            '\ndef f(x):\n    if (x < 0).any():\n        raise ValueError("negative")\n'
            "    return x * 2\n",
            fixed="""
def f(x):
    if torch.compiler.is_compiling():
        torch._assert_async(torch.logical_not((x < 0).any()), "negative")
    else:
        if (x < 0).any():
            raise ValueError("negative")
    return x * 2
""",
            proves=("GB0170",),
            fails_on="(-torch.ones(4, 3),)",
        ),
        Untouched(
            "\ndef f(x):\n    try:\n        if x.isnan().any():\n            raise ValueError\n"
            "    except ValueError:\n        return x\n    return x * 2\n",
            reason="would get RuntimeError",
            proves=("GB0170",),
            title="caught",
        ),
        Good(
            '\ndef f(x):\n    assert (x >= 0).all(), "negative"\n    if x.ndim != 2:\n'
            '        raise ValueError("two dimensions")\n    return x * 2\n',
            title="an assert, and a check of a shape",
        ),
    )

    def check(self, event: TensorBranch) -> Finding | None:
        """Report the tensor that decides whether to raise."""
        site, test = event.site, event.test
        decided = decided_if(site, event.node) if event.kind in _KINDS else None
        if decided is None or not is_guard(decided):
            return None
        if draws(site, test) or is_number_of_library(site, test) or is_likely_number(site, test):
            return None
        paths = " on some paths" if event.sometimes else ""
        return Finding(
            f"A check asks for the value of the tensor `{short(site, test)}`{paths}"
            f"{consequence(site)}",
            assert_when_compiled(site, decided),
            gb_ids=loop_ids(site, "GB0170"),
            confidence=at_most_medium(event) if event.sometimes else None,
        )
