"""TCL604: GELU and SiLU written as formulas."""

from __future__ import annotations

from tclint.diagnostics import Confidence, Effect
from tclint.lint.rule import Bad, Finding, Good, Rule
from tclint.semantics.events import Call

from .gelu import activation
from .replacing import replaced


class ActivationByHand(Rule[Call]):
    """GELU or SiLU, written as a formula.

    ## What it does
    Reports `0.5 * x * (1 + torch.erf(x / math.sqrt(2)))`, the same with `tanh`, and
    `x * torch.sigmoid(x)`. The operand must be a plain name or attribute, and the file must not
    have the operator as well: it is then chosen where it is wanted.

    ## Why it hurts
    In eager mode each operator is a kernel, and what it computes is kept for the backward pass.
    Forward and backward over 4,096 x 4,096 floats on an H200: GELU 0.64 ms and 512 MiB against
    0.13 ms and 64 MiB with `F.gelu`; with `tanh` 0.81 ms and 384 MiB against 0.13 ms; SiLU 0.31 ms
    and 256 MiB against 0.12 ms and 64 MiB. **Compiled, there is no difference**: inductor fuses
    the formula just as well. Therefore the confidence is low.

    ## Fix safety
    Unsafe: results differ in their last bits. In float16 and bfloat16 the operator rounds once
    instead of after every step.

    ## References
    - [F.gelu](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.gelu.html)
    """

    code = "TCL604"
    name = "activation-by-hand"
    summary = "a formula for GELU or SiLU takes several kernels in eager code"
    on = Call
    called = ("sigmoid", "erf", "tanh")
    effects = (Effect.LAUNCH_OVERHEAD,)
    examples = (
        Bad(
            "\ndef f(x):\n    return x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))\n",
            unsafe="\ndef f(x):\n    return F.gelu(x)\n",
        ),
        Bad(
            "\ndef f(x):\n    y = x.sigmoid()\n    return torch.log1p(y) + x * x.sigmoid()\n",
            unsafe="\ndef f(x):\n    y = x.sigmoid()\n    return torch.log1p(y) + F.silu(x)\n",
            title="SiLU",
        ),
        Bad(
            "\ndef f(x):\n    return 0.5 * x * (\n        1 + torch.tanh(math.sqrt(2 / math.pi)"
            " * (x + 0.044715 * torch.pow(x, 3)))\n    )\n",
            unsafe='\ndef f(x):\n    return F.gelu(x, approximate="tanh")\n',
            title="GELU with tanh",
        ),
        Bad(
            "\ndef f(x):\n"
            "    return 0.5 * x * (1 + (x * 0.7978845608 * (1 + 0.044715 * x * x)).tanh())\n",
            unsafe='\ndef f(x):\n    return F.gelu(x, approximate="tanh")\n',
            title="GELU with tanh, factored",
        ),
        Good(
            "\ndef f(x):\n    y = x * torch.sigmoid(1.702 * x) + x * torch.sigmoid(x - 1)\n"
            "    return y + 0.5 * x * (1 + torch.tanh(x)) + (1 + torch.erf(x / 2)) * 0.5 * x\n",
            title="other formulas",
        ),
        Good(
            "\ndef f(x):\n    return F.gelu(x) + F.silu(x)\n",
            title="the operators",
        ),
    )

    def check(self, event: Call) -> Finding | None:
        """Look at the product around `sigmoid`, `erf` and `tanh`."""
        found = activation(event.site, event.node)
        if found is None:
            return None
        name, whole, x, more = found
        if f".{name}" in event.site.module.file.text:
            return None  # the author knows both, and chose
        return Finding(
            f"This formula is `F.{name}`: eager code runs a kernel for each of its operators",
            replaced(
                event.site,
                whole,
                f"torch.nn.functional.{name}",
                {"x": x, **more},
                "results differ in their last bits",
                keeps=[x] if name == "gelu" and not more else [],
            ),
            node=whole,
            confidence=Confidence.LOW,
        )
