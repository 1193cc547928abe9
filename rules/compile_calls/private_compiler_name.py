"""TCL421: a private name of the compiler that has a public one."""

from __future__ import annotations

from typing import ClassVar

from tclint.diagnostics import Confidence, Effect
from tclint.lint.rule import Bad, Finding, Good, Rule
from tclint.semantics.events import NameUsed
from tclint.torch_facts.moved import COMPILER_NAMES

from .renaming import use_public_name, worth_saying


class PrivateCompilerName(Rule[NameUsed]):
    """A private name of the compiler where a public one does the same.

    What it does:
        Reports `torch._dynamo.disable`, `allow_in_graph`, `reset`, `is_compiling`,
        `list_backends`, `assume_constant_result`, `substitute_in_graph` and `set_stance`,
        `torch._utils.is_compiling` and `torch._inductor.cudagraph_mark_step_begin`, where
        `torch.compiler` has them in each torch that the project is for (`min-torch`). Uses in a
        `try`, or below an `if` that asks for a version or an attribute, are left alone.

    Why it hurts:
        What starts with an underscore may change in any release, and loading it takes time: the
        first use of `torch._dynamo` imports 828 modules in 1.3 s (torch 2.13, CPU), even where
        only `is_compiling()` is asked, which `torch.compiler` answers without.
        `torch._utils.is_compiling` is deprecated and warns. The others work well as they are, and
        are reported with low confidence.

    Fix safety:
        Safe: the public functions call the private ones, or are what those call.

    References:
        `torch.compiler` API reference.
    """

    code = "TCL421"
    name = "private-compiler-name"
    summary = "`torch._dynamo` is private where `torch.compiler` has the same name"
    on = NameUsed
    effects = (Effect.NONE,)
    outside_regions = True
    examples: ClassVar = (
        Bad(
            code="def f(x):\n    return x * 2 if torch._utils.is_compiling() else x + x\n",
            fixed="def f(x):\n    return x * 2 if torch.compiler.is_compiling() else x + x\n",
            proves=("warns",),
            title="a question",
        ),
        Bad(
            code=(
                "import torch._dynamo\n\n\n@torch._dynamo.assume_constant_result\n"
                "def size():\n    return 3\n\n\ndef f(x):\n    return x * size()\n"
            ),
            fixed=(
                "import torch._dynamo\n\n\n@torch.compiler.assume_constant_result\n"
                "def size():\n    return 3\n\n\ndef f(x):\n    return x * size()\n"
            ),
            title="a decorator",
        ),
        Good(
            code=(
                "try:\n    from torch.compiler import is_compiling\nexcept ImportError:\n"
                "    is_compiling = torch._dynamo.is_compiling\n\n\n"
                "def f(x):\n    return x * 2 if is_compiling() else x + x\n"
            ),
            title="for an older torch",
        ),
    )

    def check(self, event: NameUsed) -> Finding | None:
        """Look the name up among those that are the same function."""
        moved = COMPILER_NAMES.get(event.name)
        if moved is None or not moved.same or not worth_saying(event, moved):
            return None
        why = "is deprecated and warns" if moved.warns else "is private"
        return Finding(
            f"`{event.name}` {why}: `{moved.new}` is the public name of the same",
            fix=use_public_name(event, moved),
            confidence=_confidence(event.name, warns=moved.warns),
        )


def _confidence(name: str, *, warns: bool) -> Confidence:
    """Low where only the underscore speaks against the name."""
    if warns:
        return Confidence.HIGH
    return Confidence.MEDIUM if name.endswith(".is_compiling") else Confidence.LOW
