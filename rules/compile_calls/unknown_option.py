"""TCL404: an option that inductor does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import ClassVar

from tclint.diagnostics import Confidence, Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import CompileCall

from .arguments import names_for, rename, uses_inductor, version_of
from .nearest import nearest

TAKEN_BY_COMPILE = frozenset({"guard_filter_fn", "use_aoti"})


class UnknownInductorOption(Rule[CompileCall]):
    """An option that inductor does not have.

    What it does:
        Reports keys of a literal `options={...}` that are no inductor option.

    Why it hurts:
        `torch.compile` raises `RuntimeError: Unexpected optimization option` as soon as it is
        called. Nested options are written with a dot: `triton.cudagraphs`. Backends other than
        inductor take options of their own, and most ignore those that they do not know.

    Fix safety:
        Unsafe: the call raised and now compiles. It is offered only where spelling alone
        separates the key from a known one.

    References:
        `torch._inductor.list_options()` lists those of the installed torch.
    """

    code = "TCL404"
    name = "unknown-inductor-option"
    summary = "An option that inductor does not have makes `torch.compile` raise"
    on = CompileCall
    effects = (Effect.INVALID,)
    outside_regions = True
    examples: ClassVar = (
        Bad(
            code=(
                '@torch.compile(options={"triton_cudagraphs": True})\n'
                "def f(x):\n    return torch.relu(x)\n"
            ),
            unsafe=(
                '@torch.compile(options={"triton.cudagraphs": True})\n'
                "def f(x):\n    return torch.relu(x)\n"
            ),
            proves=("raises",),
            title="an underscore for a dot",
        ),
        Good(
            code=(
                '@torch.compile(options={"max-autotune": False})\n'
                "def f(x):\n    return torch.relu(x)\n"
            ),
            title="hyphens count as underscores",
        ),
        Untouched(
            code=('@torch.compile(options={"zq": 1})\ndef f(x):\n    return torch.relu(x)\n'),
            reason="no accepted name resembles it",
            proves=("raises",),
            title="a key unlike any option",
        ),
    )

    def check(self, event: CompileCall) -> Finding | None:
        """Compare the keys with the options of the targeted torch; the first wrong one counts."""
        options = event.keywords.get("options")
        if not isinstance(options, ast.Dict) or not uses_inductor(event):
            return None
        known = names_for(event).options
        for key, written in _keys(options):
            if written.replace("-", "_") in known or written in TAKEN_BY_COMPILE:
                continue
            suggestion = nearest(written, known)
            ending = f"; {suggestion.question}" if suggestion and suggestion.clear else ""
            return Finding(
                f'"{written}" is no inductor option of {version_of(event)}, so torch.compile '
                f"raises{ending}",
                fix=rename(event, key, suggestion),
                node=key,
                confidence=Confidence.HIGH,
            )
        return None


def _keys(options: ast.Dict) -> Iterator[tuple[ast.Constant, str]]:
    for key in options.keys:
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key, key.value
