"""TCL405: an inductor option of the wrong type."""

from __future__ import annotations

import ast
from typing import ClassVar

from tclint.diagnostics import Applicability, Confidence, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import CompileCall

from .arguments import names_for, uses_inductor

JUDGED = frozenset({"bool", "float", "int", "str"})


class OptionOfWrongType(Rule[CompileCall]):
    """An inductor option of the wrong type.

    What it does:
        Reports literals in `options={...}` whose type is not that of the option.

    Why it hurts:
        `torch.compile` raises `RuntimeError: Unexpected type of attr` as soon as it is called. It
        is strict: `1` does not pass for `True`, nor `1` for `1.0`.

    Fix safety:
        Unsafe: the call raised and now compiles. Only `0` and `1` for a flag are rewritten.

    References:
        `torch._inductor.config` shows every option with its default.
    """

    code = "TCL405"
    name = "inductor-option-of-wrong-type"
    summary = "An inductor option of the wrong type makes `torch.compile` raise"
    on = CompileCall
    effects = (Effect.INVALID,)
    outside_regions = True
    examples: ClassVar = (
        Bad(
            code=(
                '@torch.compile(options={"max_autotune": 0})\ndef f(x):\n    return torch.relu(x)\n'
            ),
            unsafe=(
                '@torch.compile(options={"max_autotune": False})\n'
                "def f(x):\n    return torch.relu(x)\n"
            ),
            proves=("raises",),
            title="a number for a flag",
        ),
        Untouched(
            code=(
                '@torch.compile(options={"max_autotune": "yes"})\n'
                "def f(x):\n    return torch.relu(x)\n"
            ),
            reason="what it should be is not clear",
            proves=("raises",),
            title="a word for a flag",
        ),
        Good(
            code=(
                '@torch.compile(options={"max_autotune": False})\n'
                "def f(x):\n    return torch.relu(x)\n"
            ),
            title="a flag",
        ),
    )

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
        return Decline("what it should be is not clear")
    flag = str(bool(node.value))
    changes = f"the call no longer raises, and compiles with {flag}"
    return Repair(f"Use `{flag}`", (Replace(node, flag),), Applicability.UNSAFE, changes)
