"""TCL620: a training script compiles, but multiplies in full float32."""

from __future__ import annotations

import re
from typing import Final

from tclint.diagnostics import Confidence, Effect
from tclint.lint.rule import Bad, Finding, Good, Rule
from tclint.semantics.events import CompileCall
from tclint.semantics.values import BoundExternal

# Whoever says one of these has thought about precision.
_PRECISE: Final = re.compile(
    r"float32_matmul_precision|tf32|fp32_precision|autocast|bfloat16|float16|float64|half\(|double\("
    r"|\bamp\b|precision|mixed|Accelerator|fp16|bf16|fp8",
    re.IGNORECASE,
)
_COMPILES: Final = re.compile(r"\btorch\.compile\b|\.compile\(")
_SCRIPT: Final = (
    "\ndef main(batches):\n    model = torch.compile(nn.Linear(3, 3))\n"
    "    for x in batches:\n        model(x).sum().backward()\n"
    "\n\ndef f(x):\n    return x\n"
    '\n\nif __name__ == "__main__":\n    main([])\n'
)


class FullFloat32Products(Rule[CompileCall]):
    """A training script compiles its model, but multiplies in full float32.

    ## What it does
    Reports the first `torch.compile` of a script that trains (it has a `backward()` and a
    `__main__` part) and says nothing about precision: no
    `torch.set_float32_matmul_precision`, no TF32 switch, no autocast, no half precision.

    ## Why it hurts
    GPUs since Ampere multiply float32 matrices several times faster as TF32, with 10 bits of
    mantissa instead of 23; torch does so only when told. A 4,096 x 4,096 product took 2.68 ms on an
    H200 and 0.33 ms after `torch.set_float32_matmul_precision("high")`, compiled or not. Inductor
    warns of this when it compiles.

    ## Fix safety
    None is offered: whether the lost bits matter is for the author to say. Another file may have
    set it, and other devices have no TF32: the confidence is low.

    ## References
    - [set_float32_matmul_precision](https://docs.pytorch.org/docs/stable/generated/torch.set_float32_matmul_precision.html)
    """

    code = "TCL620"
    name = "full-float32-products"
    summary = "a compiled training script never says that products may use TF32"
    on = CompileCall
    effects = (Effect.NONE,)
    outside_regions = True
    examples = (
        Bad(_SCRIPT),
        Good(
            _SCRIPT.replace(
                "(batches):\n", '(batches):\n    torch.set_float32_matmul_precision("high")\n'
            ),
            title="said",
        ),
        Good(_SCRIPT.replace(".sum().backward()", ""), title="no training"),
        Good(
            _SCRIPT.replace("torch.compile(nn.Linear(3, 3))", "nn.Linear(3, 3)").replace(
                "    for x",
                "    step = torch.compile(torch.optim.SGD(model.parameters()).step)\n    for x",
            ),
            title="only the optimizer compiled",
        ),
    )

    def check(self, event: CompileCall) -> Finding | None:
        """Report the file's first compile call."""
        if isinstance(event.target, BoundExternal):
            return None  # an optimizer's step multiplies no matrices
        text = event.site.module.file.text
        if "__main__" not in text or ".backward(" not in text or _PRECISE.search(text):
            return None
        first = _COMPILES.search(text)
        if first is None or text.count("\n", 0, first.start()) + 1 != event.node.lineno:
            return None
        return Finding(
            "Nothing here says how precise float32 products must be: "
            '`torch.set_float32_matmul_precision("high")` lets GPUs multiply several times faster',
            confidence=Confidence.LOW,
        )
