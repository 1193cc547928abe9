"""TCL401: a mode that torch.compile does not know."""

from __future__ import annotations

import re
from typing import ClassVar

from tclint.diagnostics import Confidence, Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import CompileCall

from .arguments import names_for, rename, text, uses_inductor, version_of
from .nearest import Nearest, nearest


class UnknownCompileMode(Rule[CompileCall]):
    """A mode that torch.compile does not know.

    What it does:
        Reports `torch.compile(..., mode="NAME")` where torch has no mode of that name.

    Why it hurts:
        `torch.compile` raises `RuntimeError: Unrecognized mode=NAME` as soon as it is called.
        Modes are spelt with hyphens: `reduce-overhead`, `max-autotune`. Backends other than
        inductor ignore the mode, so tclint judges it only where inductor compiles.

    Fix safety:
        Unsafe: the call raised and now compiles. It is offered only where spelling alone
        separates the name from a known one, or where a single mode begins with the same word; of
        the modes that autotune, the one without CUDA graphs is taken only if the name says so.
        Any other guess is shown but never applied.

    References:
        `torch._inductor.list_mode_options()` lists the modes of the installed torch.
    """

    code = "TCL401"
    name = "unknown-compile-mode"
    summary = "A mode that `torch.compile` does not know makes it raise"
    on = CompileCall
    effects = (Effect.INVALID,)
    outside_regions = True
    examples: ClassVar = (
        Bad(
            code=(
                "def step(x):\n"
                "    return torch.relu(x)\n\n\n"
                'f = torch.compile(step, mode="reduce_overhead")\n'
            ),
            unsafe=(
                "def step(x):\n"
                "    return torch.relu(x)\n\n\n"
                'f = torch.compile(step, mode="reduce-overhead")\n'
            ),
            proves=("raises",),
            title="an underscore for a hyphen",
        ),
        Bad(
            code='@torch.compile(mode="max-performance")\ndef f(x):\n    return torch.relu(x)\n',
            unsafe='@torch.compile(mode="max-autotune")\ndef f(x):\n    return torch.relu(x)\n',
            proves=("raises",),
            title="the first word of one mode",
        ),
        Bad(
            code='@torch.compile(mode="no-cudagraphs")\ndef f(x):\n    return torch.relu(x)\n',
            proves=("raises",),
            title="a name that takes a guess",
        ),
        Good(
            code='@torch.compile(mode="max-autotune")\ndef f(x):\n    return torch.relu(x)\n',
            title="a mode of torch",
        ),
        Good(
            code=(
                '@torch.compile(backend="eager", mode="mine")\n'
                "def f(x):\n    return torch.relu(x)\n"
            ),
            title="another backend ignores the mode",
        ),
        Untouched(
            code='@torch.compile(mode="quickest")\ndef f(x):\n    return torch.relu(x)\n',
            reason="no accepted name resembles it",
            proves=("raises",),
            title="a name unlike any mode",
        ),
        Untouched(
            code=(
                'MODE = "max_autotune"\n\n\n'
                "@torch.compile(mode=MODE)\n"
                "def f(x):\n    return torch.relu(x)\n"
            ),
            reason="comes from `MODE`",
            proves=("raises",),
            title="the name is written elsewhere",
        ),
    )

    def check(self, event: CompileCall) -> Finding | None:
        """Compare the mode with those of the targeted torch."""
        mode = text(event, "mode")
        known = names_for(event).modes
        if not mode or mode in known or not uses_inductor(event):
            return None
        node = event.keywords["mode"]
        suggestion = meant_mode(mode, known)
        clear = suggestion is not None and suggestion.clear
        question = suggestion.question if suggestion and clear else f"known are {_listed(known)}"
        return Finding(
            f'"{mode}" is no mode of {version_of(event)}, so torch.compile raises; {question}',
            fix=rename(event, node, suggestion),
            node=node,
            confidence=Confidence.HIGH,
        )


def meant_mode(mode: str, known: frozenset[str]) -> Nearest | None:
    """The mode of that spelling, or else the only one with that first word."""
    without = _without_graphs(mode)
    alike = sorted(name for name in known if _without_graphs(name) == without)
    close = nearest(mode, alike)
    if close and close.clear:
        return close
    family = [name for name in alike if _words(name)[:1] == _words(mode)[:1]]
    return Nearest(family[0], clear=True) if len(family) == 1 else close


def _without_graphs(mode: str) -> bool:
    """True for a name that rules CUDA graphs out: no misspelling turns that round."""
    return "nocudagraph" in "".join(_words(mode))


def _words(mode: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", mode.lower())


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))
