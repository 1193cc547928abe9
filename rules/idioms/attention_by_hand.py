"""TCL606: attention written as two products and a softmax."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Confidence, Effect, Worth
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call
from tclint.semantics.lattice import is_static
from tclint.semantics.site import Site
from tclint.semantics.values import Object

from .def_use import only_use, value_of
from .operations import factors_of_product, matrix_product, operation

_WHOLE: Final = "use `F.scaled_dot_product_attention(q, k, v, scale=...)`"
_MASKED: Final = "pass what changes the scores as `attn_mask=`"
_DROPOUT: Final = "pass the dropout as `dropout_p=`, which is 0 unless training"
_FUNCTION: Final = "scaled_dot_product_attention"
_CASTS: Final = ("to", "type_as", "float", "half", "bfloat16")
_LAST_TWO: Final = ({"-1", "-2"}, {"2", "3"})


class AttentionByHand(Rule[Call]):
    """Attention written out as two matmuls and a softmax."""

    code = "TCL606"
    name = "attention-by-hand"
    summary = "Attention by hand materializes the scores of all pairs of tokens"
    instead = "Use `F.scaled_dot_product_attention`"
    worth = Worth.MEDIUM
    measured = "a quarter of the time in eager code, 16% less in compiled code (H200)"
    on = Call
    called = ("softmax",)
    effects = (Effect.LAUNCH_OVERHEAD,)

    def check(self, event: Call) -> Finding | None:
        """Look at what a softmax is taken of, and where it goes."""
        site = event.site
        softmax = operation(site, event.node, "softmax")
        dim = softmax.argument(0, "dim", "axis") if softmax else None
        if softmax is None or dim is None or ast.unparse(dim) != "-1":
            return None
        masked, use = _is_changed(site, softmax.subject), _weights_use(site, softmax.node)
        product = matrix_product(site, use[0]) if use else None
        if masked is None or use is None or product is None:
            return None
        dropped = use[1]
        if _FUNCTION in site.module.file.text:
            return None  # by hand is then one of several ways
        return Finding(
            "Attention written by hand: eager code materializes the scores of all token pairs",
            Advice(_DROPOUT if dropped else _MASKED if masked else _WHOLE),
            node=product[0],
            confidence=Confidence.MEDIUM,
        )


def _is_changed(site: Site, node: ast.expr) -> bool | None:
    """Whether the scores are more than a product and a factor; None where they are no scores.

    A factor that is learned is another attention: over channels, with a temperature.
    """
    found = value_of(site, node)
    masked = operation(site, found, "masked_fill")
    if masked is not None:
        return None if _is_changed(site, masked.subject) is None else True
    match found:
        case ast.BinOp(left=left, op=ast.Add()):
            return None if _is_changed(site, left) is None else True
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=factor):
            return _is_changed(site, left) if is_static(site.value(factor)) else None
    product = factors_of_product(site, found)
    if product is None or not _is_transposed(site, product[1]):
        return None
    return None if _lacks_features(site, product[0]) else False


def _is_transposed(site: Site, node: ast.expr) -> bool:
    """True for ``key.transpose(-2, -1)`` and ``key.mT``."""
    found = value_of(site, node)
    if isinstance(found, ast.Attribute):
        return found.attr == "mT"
    swapped = operation(site, found, "transpose", "swapaxes")
    if swapped is not None:
        return {ast.unparse(part) for part in swapped.rest} in _LAST_TWO
    moved = operation(site, found, "permute")
    dims_in_order = [ast.unparse(part) for part in moved.rest] if moved else []
    return dims_in_order == ["0", "1", "3", "2"]


def _lacks_features(site: Site, query: ast.expr) -> bool:
    """True for one of ``x.unbind(-1)``: the last dimension, over which a query is summed, is gone.

    What is left are tokens, and the product is one of matrices, not of queries and keys.
    """
    found = site.flow.definition(query)
    last = found.node if found is not None else None
    split = operation(site, last.value, "unbind") if isinstance(last, ast.Assign) else None
    dim = split.argument(0, "dim") if split else None
    return dim is not None and ast.unparse(dim) == "-1"


def _weights_use(site: Site, node: ast.expr) -> tuple[ast.expr, bool] | None:
    """Where the weights are used, and whether behind a dropout; None if twice."""
    dropped = False
    while True:
        use = only_use(site, node)
        if use is None:
            return None
        outer = site.parent(use)
        if isinstance(outer, ast.Attribute):
            cast = site.parent(outer)
            if outer.attr not in _CASTS or not isinstance(cast, ast.Call):
                return use, dropped
            node = cast
        elif isinstance(outer, ast.Call) and _is_dropout(site, outer) and outer.args[0] is use:
            node, dropped = outer, True
        elif use is node:
            return use, dropped
        else:
            node = use


def _is_dropout(site: Site, call: ast.Call) -> bool:
    if not call.args:
        return False
    called = site.value(call.func)
    if isinstance(called, Object) and called.name.startswith("torch.nn.Dropout"):
        return True
    return operation(site, call, "dropout") is not None
