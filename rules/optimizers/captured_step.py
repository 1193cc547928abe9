"""TCL506: an optimizer's step is captured in a CUDA graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.diagnostics import Change, Confidence, Effect
from tclint.lint.rewrite import AddArgument, Repair
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import NameUsed
from tclint.torch_facts.moved import CAPTURES

from ..lib.facts.optimizers import optimizer_of


class CapturedStep(Rule[NameUsed]):
    """A captured CUDA graph contains the step of an optimizer that is not capturable."""

    code = "TCL506"
    name = "step-not-capturable"
    summary = "A captured step needs an optimizer made with `capturable=True`"
    instead = "Pass `capturable=True`"
    on = NameUsed
    effects = (Effect.INVALID,)
    outside_regions = True

    def check(self, event: NameUsed) -> Finding | None:
        """Look at the optimizers that step inside of the capture."""
        statement = event.site.statement
        if event.name not in CAPTURES or not isinstance(statement, ast.With):
            return None
        for step, name in _steps(statement):
            made = optimizer_of(event.site, name)
            if made is None or "capturable" not in made.accepts:
                continue
            if made.given & {"capturable", None}:
                continue
            return Finding(
                f"`{name}` is not capturable: its step raises while a graph is captured",
                fix=Repair(
                    "Make it capturable",
                    (AddArgument(made.call, "True", keyword="capturable"),),
                    Change.BEHAVIOUR,
                    changes="steps outside of the graph get slower",
                ),
                node=step,
                confidence=Confidence.HIGH,
            )
        return None


def _steps(block: ast.With) -> Iterator[tuple[ast.Call, str]]:
    for node in ast.walk(block):
        match node:
            case ast.Call(func=ast.Attribute(attr="step", value=ast.Name(id=name)), args=[]):
                yield node, name
