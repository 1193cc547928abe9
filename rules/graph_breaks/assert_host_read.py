"""TCL112: a tensor's value is fetched for an assert."""

from __future__ import annotations

import ast

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorAssert
from tclint.torch_facts.dynamo_settings import SCALARS

from ..lib.facts.conditions import HOST_FUNCTIONS, host_reads, is_plain
from ..lib.rewrite.tensor_assert import repair_assert
from ..lib.wording import consequence


class AssertHostRead(Rule[TensorAssert]):
    """An assert reads its condition back to the host before testing it."""

    code = "TCL112"
    name = "assert-host-read"
    summary = "`.item()`, `bool()` or `torch.allclose` in an assert breaks the graph"
    instead = 'Assert the tensor itself, with a literal message: `assert (x > 0).all(), "message"`'
    on = TensorAssert
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0124", "GB0033")
    settings = (SCALARS,)

    def check(self, event: TensorAssert) -> Finding | None:
        """Report the statement once, at its first read."""
        site = event.site
        captured = site.has_setting(SCALARS)
        for call in host_reads(site, event.statement.test):
            function = site.dotted(call.func) in HOST_FUNCTIONS
            if captured and not function:
                continue
            message = f"`{site.text(call)}` reads a tensor on the host{consequence(site)}"
            ids = ("GB0033",) if function else ("GB0124",)
            return Finding(
                message,
                repair_assert(site, event.statement),
                call,
                gb_ids=ids,
                removed_by_settings=() if function else _settings(event),
            )
        return None


def _settings(event: TensorAssert) -> tuple[str, ...]:
    """The settings with which an assert is traced: of one comparison, with a message that is one.

    It becomes an operator that raises when the graph runs.
    """
    test, message = event.statement.test, event.statement.msg
    negated = isinstance(test, ast.UnaryOp)
    plain = (
        is_plain(test) and not negated and (message is None or isinstance(message, ast.Constant))
    )
    asked = (event.site.dotted(part.func) for part in ast.walk(test) if isinstance(part, ast.Call))
    return (SCALARS,) if plain and HOST_FUNCTIONS.isdisjoint(asked) else ()
