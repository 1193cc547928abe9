"""TCL405: an Inductor option of the wrong type."""

from __future__ import annotations

import ast

from tclint.diagnostics import Change, Confidence, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import CompileCall

from .arguments import names_for, uses_inductor

JUDGED = frozenset({"bool", "float", "int", "str"})


class OptionOfWrongType(Rule[CompileCall]):
    """An Inductor option of the wrong type."""

    code = "TCL405"
    name = "inductor-option-of-wrong-type"
    summary = "An Inductor option of the wrong type makes `torch.compile` raise"
    instead = "Pass a value of the option's type"
    on = CompileCall
    effects = (Effect.INVALID,)
    outside_regions = True

    def check(self, event: CompileCall) -> Finding | None:
        """Compare literals with the types of the options; the first wrong one counts."""
        options = event.keywords.get("options")
        if not isinstance(options, ast.Dict) or not uses_inductor(event):
            return None
        types = names_for(event).options
        for key, node in zip(options.keys, options.values, strict=True):
            if not isinstance(key, ast.Constant) or not isinstance(node, ast.Constant):
                continue
            name = key.value if isinstance(key.value, str) else ""
            wanted = types.get(name.replace("-", "_"), "")
            given = type(node.value).__name__
            if wanted not in JUDGED or given == wanted or (given, wanted) == ("bool", "int"):
                continue
            return Finding(
                f'"{name}" is of type {wanted}, and torch.compile raises when it gets '
                f"{event.site.text(node)}",
                fix=_repair(node, wanted),
                node=node,
                confidence=Confidence.HIGH,
            )
        return None


def _repair(node: ast.Constant, wanted: str) -> Repair | Decline:
    if wanted != "bool" or node.value not in (0, 1):
        return Decline("tclint cannot tell which value is meant")
    flag = str(bool(node.value))
    changes = f"the call no longer raises, and compiles with {flag}"
    return Repair(f"Use `{flag}`", (Replace(node, flag),), Change.BEHAVIOUR, changes)
