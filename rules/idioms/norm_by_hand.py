"""TCL608: RMS and layer normalisation written by hand."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import Call

from .norms import Norm, norm
from .replacing import replaced
from .straight import is_one_value, reaches, without_leftovers

_CHANGES: Final = (
    "results differ in their last bits; float16 and bfloat16 are computed in float32 and rounded "
    "once; torch before 2.4 has no `rms_norm`"
)


class NormByHand(Rule[Call]):
    """RMS or layer normalisation over the last dimension, written by hand.

    ## What it does
    Reports `x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)` and
    `(x - mean) / torch.sqrt(var + eps)`, also over several statements. Not in classes that have a
    decorator, which may put a kernel in the place of `forward`.

    ## Why it hurts
    In eager mode each operator is a kernel, and what it computes is kept for the backward pass.
    Forward and backward over 4,096 x 4,096 elements on an H200: RMS 0.50 ms and 320 MiB against
    0.21 ms and 128 MiB with `F.rms_norm` (bfloat16 with casts 0.65 ms against 0.12 ms), layer
    normalisation 0.99 ms and 384 MiB against 0.21 ms and 128 MiB. On a CPU `F.rms_norm` gains
    nothing. **Compiled, there is no difference**: inductor fuses the formula just as well.
    Therefore the confidence is low.

    ## Fix safety
    Unsafe: results differ in their last bits, more so in float16 and bfloat16. Casts around the
    formula stay.

    ## References
    - [F.rms_norm](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.rms_norm.html)
    """

    code = "TCL608"
    name = "norm-by-hand"
    summary = "a normalisation by hand takes several kernels in eager code"
    on = Call
    called = ("sqrt", "rsqrt")
    effects = (Effect.LAUNCH_OVERHEAD,)
    examples = (
        Bad(
            "\ndef f(x):\n    variance = x.pow(2).mean(-1, keepdim=True)\n"
            "    x = x * torch.rsqrt(variance + 1e-6)\n    return x\n",
            unsafe="\ndef f(x):\n    x = F.rms_norm(x, x.shape[-1:], eps=1e-6)\n    return x\n",
        ),
        Bad(
            "\ndef f(x):\n    mean = x.mean(-1, keepdim=True)\n"
            "    var = x.var(-1, keepdim=True, unbiased=False)\n"
            "    return (x - mean) / torch.sqrt(var + 1e-5)\n",
            unsafe="\ndef f(x):\n    return F.layer_norm(x, x.shape[-1:], eps=1e-5)\n",
            title="layer normalisation",
        ),
        Untouched(
            "\ndef f(x):\n    eps = 1e-6\n    v = x.pow(2).mean(-1, keepdim=True) + eps\n"
            "    eps = 1.0\n    return x * torch.rsqrt(v) + eps\n",
            reason="`eps` has changed",
        ),
        Good(
            "\ndef f(x):\n    v = x.pow(2).mean(-1, keepdim=True)\n    x = x + 1\n"
            "    return x * torch.rsqrt(v + 1e-6)\n",
            title="the norm of another value",
        ),
        Good(
            "\ndef f(x):\n    y = x * torch.rsqrt(x.pow(2).mean(0, keepdim=True) + 1e-6)\n"
            "    z = (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True) + 1e-5)\n"
            "    return y + z + x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + 1e-6)\n",
            title="other formulas",
        ),
    )

    def check(self, event: Call) -> Finding | None:
        """Look at the quotient by a square root."""
        found = norm(event.site, event.node)
        if found is None or not is_one_value(event.site, found.x, found.parts, found.whole):
            return None
        if event.site.cls is not None and event.site.cls.node.decorator_list:
            return None  # a kernel may take its place
        return Finding(
            f"This formula is `F.{found.function}`: eager code runs a kernel for each of its "
            "operators",
            _repair(event, found),
            node=found.whole,
            confidence=Confidence.LOW,
        )


def _repair(event: Call, found: Norm) -> Repair | Decline:
    site = event.site
    for part in (found.x, found.eps):
        if not reaches(site, part, found.whole):
            return Decline(f"`{site.text(part)}` has changed in between")
    arguments: dict[str, ast.expr | str] = {
        "x": found.x,
        "shape": "$x.shape[-1:]",
        "eps": found.eps,
    }
    function = f"torch.nn.functional.{found.function}"
    fix = replaced(
        site,
        found.whole,
        function,
        arguments,
        _CHANGES,
        positional=2,
        leaves=True,
        keeps=[found.x] if found.function == "layer_norm" else [],
    )
    if isinstance(fix, Decline):
        return fix
    return without_leftovers(site, fix, found.whole, found.parts, (found.x, found.eps))
