"""TCL620: a training script compiles, but multiplies in full float32."""

from __future__ import annotations

import re
from typing import Final

from tclint.diagnostics import Confidence, Effect, Worth
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import CompileCall
from tclint.semantics.training import may_train, training_bodies
from tclint.semantics.values import BoundExternal

# Whoever says one of these has thought about precision.
_PRECISE: Final = re.compile(
    r"float32_matmul_precision|tf32|fp32_precision|autocast|bfloat16|float16|float64|half\(|double\("
    r"|\bamp\b|precision|mixed|Accelerator|fp16|bf16|fp8",
    re.IGNORECASE,
)
_COMPILES: Final = re.compile(r"\btorch\.compile\b|\.compile\(")


class Tf32NotEnabled(Rule[CompileCall]):
    """A training script compiles its model, but runs its matmuls in full float32."""

    code = "TCL620"
    name = "tf32-not-enabled"
    former_names = ("full-float32-products",)
    summary = "A compiled training script never lets its matmuls use TF32"
    worth = Worth.HIGH
    measured = "31% to 57% of a training step in 2 cases (H200)"
    on = CompileCall
    effects = (Effect.NONE,)
    outside_regions = True

    def check(self, event: CompileCall) -> Finding | None:
        """Report the file's first compile call."""
        if isinstance(event.target, BoundExternal):
            return None  # an optimizer's step multiplies no matrices
        text = event.site.module.file.text
        if not may_train(text) or _PRECISE.search(text):
            return None
        first = _COMPILES.search(text)
        if first is None or text.count("\n", 0, first.start()) + 1 != event.node.lineno:
            return None
        if not training_bodies(event.site.module):
            return None
        return Finding(
            "Float32 matmuls do not use TF32; "
            '`torch.set_float32_matmul_precision("high")` makes them several times faster',
            confidence=Confidence.LOW,
        )
