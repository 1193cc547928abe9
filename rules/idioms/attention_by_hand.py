"""TCL606: attention written as two products and a softmax."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Change, Confidence, Decline, Effect, Worth
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Finding, Rule
from tclint.records import record
from tclint.semantics.events import Call
from tclint.semantics.lattice import is_static
from tclint.semantics.site import Site
from tclint.semantics.values import Object

from ..lib.facts.reaching import block_of
from ..lib.judge.verdict import Changes
from .def_use import is_written, only_use, reaches, statement_of, value_of, without_leftovers
from .operations import Operation, factors_of_product, matrix_product, operation
from .replacing import replaced

_DROPOUT: Final = Advice("pass the dropout as `dropout_p=`, which is 0 unless training")
_FUNCTION: Final = "scaled_dot_product_attention"
_CHANGES: Final = Changes(
    "results differ in their last bits, float16 and bfloat16 are rounded once instead of in each "
    "step, and gradients may not be deterministic on a GPU",
    Change.PRECISION,
)
_Pair = tuple[ast.expr, ast.expr]
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
        inner, use = _scores(site, softmax.subject), _weights_use(site, softmax.node)
        product = matrix_product(site, use[0]) if use else None
        if inner is None or use is None or product is None:
            return None
        if _FUNCTION in site.module.file.text:
            return None  # by hand is then one of several ways
        fix = _repair(site, softmax, inner, use[0], product) if use[1] is None else _DROPOUT
        return Finding(
            "Attention written by hand: eager code materializes the scores of all token pairs",
            fix,
            node=product[0],
            confidence=Confidence.MEDIUM,
        )


@record(frozen=True)
class _Scores:
    """``query @ key.transpose(-2, -1) * scale``; ``rest`` names what else happens to them."""

    query: ast.expr
    key: ast.expr
    scale: str
    parts: dict[str, ast.expr]
    rest: str | None = None


def _scores(site: Site, node: ast.expr) -> _Scores | None:
    """What a softmax is taken of, if it is the product of queries and keys.

    A factor that is learned is another attention: over channels, with a temperature.
    """
    found = value_of(site, node)
    masked = operation(site, found, "masked_fill")
    if masked is not None:
        inner = _scores(site, masked.subject)
        return None if inner is None else _with(inner, "a mask")
    if isinstance(found, ast.BinOp) and isinstance(found.op, (ast.Mult, ast.Div, ast.Add)):
        return _changed(site, found)
    product = factors_of_product(site, found)
    key = _transposed(site, product[1]) if product else None
    if product is None or key is None or _lacks_features(site, product[0]):
        return None
    return _Scores(product[0], key, "1.0", {})


def _with(inner: _Scores, rest: str) -> _Scores:
    return _Scores(inner.query, inner.key, inner.scale, inner.parts, rest)


def _changed(site: Site, node: ast.BinOp) -> _Scores | None:
    inner = _scores(site, node.left)
    if inner is None:
        return None
    if isinstance(node.op, ast.Add):
        return _with(inner, "a mask")
    if not is_static(site.value(node.right)):
        return None
    if inner.scale != "1.0" or inner.rest:
        return _with(inner, "another factor")
    template = "$scale" if isinstance(node.op, ast.Mult) else "1 / $scale"
    return _Scores(inner.query, inner.key, template, {"scale": node.right})


def _transposed(site: Site, node: ast.expr) -> ast.expr | None:
    """``key`` of ``key.transpose(-2, -1)`` and ``key.mT``."""
    found = value_of(site, node)
    if isinstance(found, ast.Attribute):
        return found.value if found.attr == "mT" else None
    swapped = operation(site, found, "transpose", "swapaxes")
    if swapped is not None:
        dims = {ast.unparse(part) for part in swapped.rest}
        return swapped.subject if dims in _LAST_TWO else None
    moved = operation(site, found, "permute")
    dims_in_order = [ast.unparse(part) for part in moved.rest] if moved else []
    return moved.subject if moved and dims_in_order == ["0", "1", "3", "2"] else None


def _lacks_features(site: Site, query: ast.expr) -> bool:
    """True for one of ``x.unbind(-1)``: the last dimension, over which a query is summed, is gone.

    What is left are tokens, and the product is one of matrices, not of queries and keys.
    """
    statement = statement_of(site, query)
    if not isinstance(query, ast.Name) or statement is None:
        return False
    block = block_of(site, statement)
    earlier = reversed(block[: block.index(statement)])
    writing = (s for s in earlier if any(is_written(n, query.id) for n in ast.walk(s)))
    last = next(writing, None)
    split = operation(site, last.value, "unbind") if isinstance(last, ast.Assign) else None
    dim = split.argument(0, "dim") if split else None
    return dim is not None and ast.unparse(dim) == "-1"


def _weights_use(site: Site, node: ast.expr) -> tuple[ast.expr, str | None] | None:
    """Where the weights of an attention are used, through dropout and casts; None if twice."""
    dropout: str | None = None
    while True:
        use = only_use(site, node)
        if use is None:
            return None
        outer = site.parent(use)
        if isinstance(outer, ast.Attribute):
            cast = site.parent(outer)
            if outer.attr not in _CASTS or not isinstance(cast, ast.Call):
                return use, dropout
            node = cast
        elif isinstance(outer, ast.Call) and _is_dropout(site, outer) and outer.args[0] is use:
            node, dropout = outer, "dropout"
        elif use is node:
            return use, dropout
        else:
            node = use


def _is_dropout(site: Site, call: ast.Call) -> bool:
    if not call.args:
        return False
    called = site.value(call.func)
    if isinstance(called, Object) and called.name.startswith("torch.nn.Dropout"):
        return True
    return operation(site, call, "dropout") is not None


def _repair(
    site: Site, softmax: Operation, inner: _Scores, weights: ast.expr, product: _Pair
) -> Repair | Decline:
    if inner.rest:
        return Advice(f"{inner.rest} changes the scores: pass it as `attn_mask=`")
    if not softmax.takes_only(1, "dim", "axis"):
        return Decline("the softmax sets its own dtype")
    whole, value = product
    for part in (inner.query, inner.key, *inner.parts.values()):
        if not reaches(site, part, whole):
            return Decline(f"`{site.text(part)}` changes before it is used")
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
