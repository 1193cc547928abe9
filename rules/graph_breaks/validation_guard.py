"""TCL165: a check that raises depends on a tensor."""

from __future__ import annotations

from tclint.diagnostics import Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import TensorBranch

from ..decisions.draws import draws, is_number_of_library
from ..decisions.guesses import is_likely_number
from ..decisions.tests import decided_if, is_guard
from ..decisions.wording import at_most_medium, consequence, loop_ids, short

_KINDS = ("if", "compare")
_WAY_OUT = (
    "compiled code can only raise RuntimeError: keep this check for eager code, and under "
    "`if torch.compiler.is_compiling():` assert the opposite with a literal message, which stays "
    "in the graph"
)


class ValidationGuard(Rule[TensorBranch]):
    """A check on a tensor's value raises an exception.

    ## What it does
    Reports `if` statements in compiled code whose test is a tensor and whose body ends in `raise`.

    ## Why it hurts
    In the good case nothing happens, and for that the graph ends and the CPU waits for the GPU.
    `assert tensor, "literal message"` stays in the graph: the check runs on the device.

    ## Fix safety
    Not fixed here: another type of exception would be raised in compiled code.

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
        Untouched(
            '\ndef f(x):\n    if (x < 0).any():\n        raise ValueError("negative")\n'
            "    return x * 2\n",
            reason="torch.compiler.is_compiling()",
            proves=("GB0170", "host-sync"),
        ),
        Untouched(
            "\ndef f(x, limit=3):\n    if limit and not torch.isfinite(x).all():\n"
            '        raise ValueError(f"{x}")\n    return x * 2\n',
            reason="RuntimeError",
            proves=("GB0170", "host-sync"),
            title="negated, behind a flag",
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
            Decline(_WAY_OUT),
            gb_ids=loop_ids(site, "GB0170"),
            confidence=at_most_medium(event) if event.sometimes else None,
        )
