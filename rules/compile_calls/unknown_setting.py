"""TCL424: a setting that the compiler does not have."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import ClassVar

from tclint.diagnostics import Applicability, Confidence, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import NameUsed
from tclint.torch_api.compile_names import compile_names

from .nearest import Nearest, nearest


class UnknownCompilerSetting(Rule[NameUsed]):
    """A setting that Dynamo, AOTAutograd or inductor does not have.

    What it does:
        Reports names in `torch._dynamo.config`, `torch._inductor.config` and
        `torch._functorch.config` that the targeted torch does not have. Uses in a `try`, or below
        an `if` that asks for a version or for the attribute, are left alone.

    Why it hurts:
        Reading or setting one raises `AttributeError: torch._dynamo.config.NAME does not exist`.
        Settings come and go: between torch 2.13 and 2.15, 50 came and 8 went.

    Fix safety:
        Unsafe: the line raised and now sets something. Offered where spelling alone separates the
        name from a known one.

    References:
        `torch._dynamo.config` and `torch._inductor.config` show all settings with their defaults.
    """

    code = "TCL424"
    name = "unknown-compiler-setting"
    summary = "A setting that the compiler does not have raises AttributeError"
    on = NameUsed
    effects = (Effect.INVALID,)
    outside_regions = True
    examples: ClassVar = (
        Bad(
            code=(
                "import torch._dynamo\n\ntorch._dynamo.config.supress_errors = False\n\n\n"
                "def f(x):\n    return x * 2\n"
            ),
            unsafe=(
                "import torch._dynamo\n\ntorch._dynamo.config.suppress_errors = False\n\n\n"
                "def f(x):\n    return x * 2\n"
            ),
            proves=("raises",),
            title="a misspelt name",
        ),
        Untouched(
            code=(
                "import torch._inductor.config as settings\n\nsettings.zq = True\n\n\n"
                "def f(x):\n    return x * 2\n"
            ),
            reason="no setting resembles it",
            proves=("raises",),
            title="a name unlike any setting",
        ),
        Good(
            code=(
                "import torch._dynamo\n\ntorch._dynamo.config.recompile_limit = 8\n\n\n"
                "def f(x):\n    return x * 2\n"
            ),
            title="a setting",
        ),
        Good(
            code=(
                'import torch._dynamo\n\nif hasattr(torch._dynamo.config, "mine"):\n'
                "    torch._dynamo.config.mine = True\n\n\ndef f(x):\n    return x * 2\n"
            ),
            title="asked for before",
        ),
    )

    def check(self, event: NameUsed) -> Finding | None:
        """Compare the name with those of the targeted torch."""
        version = event.site.settings.target_torch
        found = _setting(event, compile_names(version).settings)
        if found is None:
            return None
        module, name, known = found
        close = nearest(name, (k for k in known if not k.startswith("_")))
        clear = close is not None and close.clear
        ending = f"; {close.question}" if close and clear else ""
        return Finding(
            f"`{module}` has no `{name}` in torch {version[0]}.{version[1]}: this raises "
            f"AttributeError{ending}",
            fix=_repair(event, close) if close and clear else Decline("no setting resembles it"),
            confidence=Confidence.HIGH if clear else Confidence.MEDIUM,
        )


def _setting(
    event: NameUsed, settings: Mapping[str, frozenset[str]]
) -> tuple[str, str, frozenset[str]] | None:
    """The module, the unknown name and the known ones."""
    module, _, name = event.name.rpartition(".")
    known = settings.get(module)
    if known is None or name in known or event.site.facts.tries:
        return None
    for outer in event.site.ancestors(event.expression):
        if isinstance(outer, (ast.If, ast.IfExp)):
            test = ast.unparse(outer.test)
            if name in test or "ersion" in test or "hasattr" in test:
                return None
    return module, name, known


def _repair(event: NameUsed, close: Nearest) -> Repair | Decline:
    match event.expression:
        case ast.Attribute(value=owner):
            return Repair(
                f"Use `{close.name}`",
                (Replace(event.expression, f"$owner.{close.name}", {"owner": owner}),),
                Applicability.UNSAFE,
                changes=f"the line no longer raises, and uses `{close.name}`",
            )
    return Decline("the name is imported")
