"""TCL420: mixed-precision names that torch is about to drop."""

from __future__ import annotations

import ast
from typing import ClassVar

from tclint.diagnostics import Confidence, Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import NameUsed
from tclint.torch_facts.moved import AUTOCAST_NAMES

from .renaming import use_public_name, worth_saying


class DeprecatedAutocastName(Rule[NameUsed]):
    """A deprecated name of mixed precision: `torch.cuda.amp` and its like.

    What it does:
        Reports `torch.cuda.amp.autocast`, `GradScaler`, `custom_fwd` and `custom_bwd`, the same
        of `torch.cpu.amp`, and questions such as `torch.is_autocast_cpu_enabled()`, where the
        oldest torch of the project (`min-torch`) is 2.4 or later. Uses in a `try`, or below an
        `if` that asks for a version or an attribute, are left alone: they are there for an older
        torch.

    Why it hurts:
        Each use warns, and the names will go. Making the context costs more, too: to enter and
        leave `torch.cuda.amp.autocast(False)` took 7.3 to 8.1 µs, `torch.amp.autocast("cuda",
        enabled=False)` 3.4 to 5.1 µs (torch 2.13, CPU, warnings ignored, means of 20,000).

    Fix safety:
        Safe for the questions, which are the same functions. Unsafe for the classes:
        `isinstance(x, torch.cuda.amp.GradScaler)` no longer holds, and autocast takes the dtype
        that `torch.set_autocast_dtype` says instead of always float16. A `from ... import` of the
        old name goes with its only use; where there are several, it stays for a linter to find.

    References:
        PyTorch 2.4 release notes, deprecations.
    """

    code = "TCL420"
    name = "deprecated-autocast-name"
    summary = "`torch.cuda.amp` is deprecated: each use warns"
    on = NameUsed
    effects = (Effect.NONE,)
    outside_regions = True
    examples: ClassVar = (
        Bad(
            code=("def f(x):\n    with torch.cuda.amp.autocast(False):\n        return x * 2\n"),
            unsafe=(
                'def f(x):\n    with torch.amp.autocast("cuda", enabled=False):\n'
                "        return x * 2\n"
            ),
            proves=("warns",),
            title="autocast",
        ),
        Bad(
            code=(
                "scaler = torch.cuda.amp.GradScaler(enabled=False)\n\n\n"
                "def f(x):\n    return scaler.scale(x)\n"
            ),
            unsafe=(
                'scaler = torch.amp.GradScaler("cuda", enabled=False)\n\n\n'
                "def f(x):\n    return scaler.scale(x)\n"
            ),
            proves=("warns",),
            title="a scaler",
        ),
        Bad(
            code="def f(x):\n    return x * 2 if torch.is_autocast_cpu_enabled() else x\n",
            fixed='def f(x):\n    return x * 2 if torch.is_autocast_enabled("cpu") else x\n',
            proves=("warns",),
            title="a question",
        ),
        Untouched(
            code=(
                "settings = [False]\n\n\ndef f(x):\n"
                "    with torch.cuda.amp.autocast(*settings):\n        return x * 2\n"
            ),
            reason="not all written out",
            proves=("warns",),
            title="unpacked arguments",
        ),
        Good(
            code=(
                'def f(x):\n    with torch.amp.autocast("cpu", enabled=False):\n'
                "        return x * 2\n"
            ),
            title="the name of today",
        ),
    )

    def check(self, event: NameUsed) -> Finding | None:
        """Look the name up; whoever supports older versions keeps it."""
        moved = AUTOCAST_NAMES.get(event.name)
        if moved is None or not worth_saying(event, moved):
            return None
        head, _, last = moved.new.rpartition(".")
        decorates = last.startswith("custom_")
        if event.call is None and not decorates:
            return None  # an annotation, or a question about the class
        shown = f'{head}.{last}({"device_type=" if decorates else ""}"{moved.device}")'
        return Finding(
            f"`{event.name}` is deprecated and warns: `{shown}` replaces it",
            fix=use_public_name(event, moved),
            node=event.call if isinstance(event.call, ast.Call) else event.expression,
            confidence=Confidence.HIGH,
        )
