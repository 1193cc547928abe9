"""TCL606: attention written as two products and a softmax."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import Call
from tclint.semantics.site import Site

from .operations import Operation, matrix_product, operation
from .replacing import replaced
from .scores import Scores, scores, weights_use
from .straight import reaches, without_leftovers

_DROPOUT: Final = Decline("pass the dropout as `dropout_p=`, which is 0 unless training")
_FUNCTION: Final = "scaled_dot_product_attention"
_CHANGES: Final = (
    "results differ in their last bits, and gradients may not be deterministic on a GPU"
)


class AttentionByHand(Rule[Call]):
    """Attention, written as two products and a softmax.

    ## What it does
    Reports `softmax(q @ k.transpose(-2, -1) * scale, dim=-1) @ v`, with a mask, dropout and casts
    in between, where the weights serve nothing else and the file knows no other way.

    ## Why it hurts
    The scores have as many elements as there are pairs of tokens, and eager code writes them out
    several times. Forward and backward with 12 heads of 64, 1,024 tokens, batch 8, bfloat16 on an
    H200: 1.15 ms and 756 MiB; with `F.scaled_dot_product_attention` 0.28 ms and 48 MiB. Compiled,
    inductor recognises this very form and came to 48 MiB by itself (0.63 and 0.53 ms).

    ## Fix safety
    Unsafe: results differ in their last bits. Offered where there is no mask and no dropout; else
    pass them as `attn_mask=` and `dropout_p=`.

    ## References
    - [F.scaled_dot_product_attention](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html)
    """

    code = "TCL606"
    name = "attention-by-hand"
    summary = "attention by hand writes out the scores of all pairs of tokens"
    on = Call
    called = ("softmax",)
    effects = (Effect.LAUNCH_OVERHEAD,)
    examples = (
        Bad(
            "\ndef f(q, k, v):\n    return (q @ k.transpose(-2, -1) * 0.5).softmax(-1) @ v\n",
            "torch.ones(3, 2, 5, 4).unbind()",
            unsafe="\ndef f(q, k, v):\n"
            "    return F.scaled_dot_product_attention(q, k, v, scale=0.5)\n",
        ),
        Bad(
            "\ndef f(q, k, v):\n    scores = torch.matmul(q, k.mT) / math.sqrt(4)\n"
            "    weights = scores.softmax(-1)\n    return torch.matmul(weights, v)\n",
            "torch.ones(3, 2, 5, 4).unbind()",
            unsafe="\ndef f(q, k, v):\n"
            "    return F.scaled_dot_product_attention(q, k, v, scale=1 / math.sqrt(4))\n",
            title="several statements",
        ),
        Bad(
            "\ndef f(q, k, v):\n    width = q.size(-1)\n    turned = k.transpose(-2, -1)\n"
            "    scores = torch.matmul(q, turned)\n    scores = scores / math.sqrt(width)\n"
            "    weights = F.softmax(scores, dim=-1)\n    return torch.matmul(weights, v)\n",
            "torch.ones(3, 2, 5, 4).unbind()",
            unsafe="\ndef f(q, k, v):\n    width = q.size(-1)\n"
            "    return F.scaled_dot_product_attention(q, k, v, scale=1 / math.sqrt(width))\n",
            title="the first product goes with the others",
        ),
        Untouched(
            "\ndef f(q, k, v, mask):\n    scores = q @ k.transpose(-2, -1) + mask\n"
            "    return scores.softmax(-1) @ v\n",
            reason="attn_mask",
            inputs="(*torch.ones(3, 2, 5, 4).unbind(), torch.zeros(5, 5))",
            title="a mask",
        ),
        Good(
            "\ndef f(q, k, v):\n    w = (q @ k.mT).softmax(-1)\n    return w @ v, w\n",
            "torch.ones(3, 2, 5, 4).unbind()",
            title="the weights are wanted",
        ),
    )

    def check(self, event: Call) -> Finding | None:
        """Look at what a softmax is taken of, and where it goes."""
        site = event.site
        softmax = operation(site, event.node, "softmax")
        dim = softmax.argument(0, "dim", "axis") if softmax else None
        if softmax is None or dim is None or ast.unparse(dim) != "-1":
            return None
        inner, use = scores(site, softmax.subject), weights_use(site, softmax.node)
        product = matrix_product(site, use[0]) if use else None
        if inner is None or use is None or product is None:
            return None
        if _FUNCTION in site.module.file.text:
            return None  # by hand is then one of several ways
        fix = _repair(site, softmax, inner, use[0], product) if use[1] is None else _DROPOUT
        return Finding(
            "Attention written by hand: eager code writes out the scores of all pairs of tokens",
            fix,
            node=product[0],
            confidence=Confidence.MEDIUM,
        )


Pair = tuple[ast.expr, ast.expr]


def _repair(
    site: Site, softmax: Operation, inner: Scores, weights: ast.expr, product: Pair
) -> Repair | Decline:
    if inner.rest:
        return Decline(f"{inner.rest} changes the scores: pass it as `attn_mask=`")
    if not softmax.takes_only(1, "dim", "axis"):
        return Decline("the softmax has a dtype of its own")
    whole, value = product
    for part in (inner.query, inner.key, *inner.parts.values()):
        if not reaches(site, part, whole):
            return Decline(f"`{site.text(part)}` has changed when it is used")
    arguments: dict[str, ast.expr | str] = {
        "query": inner.query,
        "key": inner.key,
        "value": value,
        "scale": inner.scale,
    }
    function = f"torch.nn.functional.{_FUNCTION}"
    fix = replaced(
        site,
        whole,
        function,
        arguments,
        _CHANGES,
        positional=3,
        more=inner.parts,
        leaves=True,
        keeps_result=True,
    )
    if isinstance(fix, Decline):
        return fix
    kept = (inner.query, inner.key, value, *inner.parts.values())
    return without_leftovers(site, fix, whole, (weights, softmax.subject), kept)
