"""TCL162: a `while` loop runs until a tensor says stop."""

from __future__ import annotations

from tclint.diagnostics import Advice, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorBranch

from ..lib.facts.likely_numbers import is_likely_number
from ..lib.facts.random_tests import decides_at_random, is_number_of_library
from ..lib.wording import consequence, short

_WAY_OUT = (
    "the number of iterations is known only on the device; use a fixed number of iterations with "
    "`torch.where(done, x, step(x))`, use `torch._higher_order_ops.while_loop`, or keep the loop "
    "out of compiled code"
)


class DataDependentWhile(Rule[TensorBranch]):
    """A `while` loop branches on a tensor's value."""

    code = "TCL162"
    name = "data-dependent-while"
    summary = "A `while` on a tensor's value breaks the graph in every iteration"
    instead = (
        "Run a fixed number of steps in which finished rows keep their values "
        "(`torch.where(done, old, new)`), or compile only the body"
    )
    on = TensorBranch
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0170",)

    def check(self, event: TensorBranch) -> Finding | None:
        """Report the tensor that the loop asks."""
        site, test = event.site, event.test
        if (
            event.kind != "while"
            or decides_at_random(site, test)
            or is_number_of_library(site, test)
        ):
            return None
        if is_likely_number(site, test):
            return None
        tensor = "what may be a tensor," if event.sometimes else "the tensor"
        end = consequence(site, around=site.statement)
        return Finding(
            f"`while` branches on {tensor} `{short(site, test)}`{end}",
            Advice(_WAY_OUT),
        )
