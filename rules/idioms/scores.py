"""Which products of queries and keys make the scores of an attention?"""

from __future__ import annotations

import ast
from typing import Final

from tclint.records import record
from tclint.semantics.lattice import is_static
from tclint.semantics.site import Site
from tclint.semantics.values import Object

from ..proofs.reaching import block_of
from .operations import factors_of_product, operation
from .straight import only_use, statement_of, value_of
from .writing import is_written

_CASTS: Final = ("to", "type_as", "float", "half", "bfloat16")
_LAST_TWO: Final = ({"-1", "-2"}, {"2", "3"})


@record(frozen=True)
class Scores:
    """``query @ key.transpose(-2, -1) * scale``; ``rest`` names what else happens to them."""

    query: ast.expr
    key: ast.expr
    scale: str
    parts: dict[str, ast.expr]
    rest: str | None = None


def scores(site: Site, node: ast.expr) -> Scores | None:
    """What a softmax is taken of, if it is the product of queries and keys.

    A factor that is learned is another attention: over channels, with a temperature.
    """
    found = value_of(site, node)
    masked = operation(site, found, "masked_fill")
    if masked is not None:
        inner = scores(site, masked.subject)
        return None if inner is None else _with(inner, "a mask")
    if isinstance(found, ast.BinOp) and isinstance(found.op, (ast.Mult, ast.Div, ast.Add)):
        return _changed(site, found)
    product = factors_of_product(site, found)
    key = _transposed(site, product[1]) if product else None
    if product is None or key is None or _lacks_features(site, product[0]):
        return None
    return Scores(product[0], key, "1.0", {})


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


def _changed(site: Site, node: ast.BinOp) -> Scores | None:
    inner = scores(site, node.left)
    if inner is None:
        return None
    if isinstance(node.op, ast.Add):
        return _with(inner, "a mask")
    if not is_static(site.value(node.right)):
        return None
    if inner.scale != "1.0" or inner.rest:
        return _with(inner, "another factor")
    template = "$scale" if isinstance(node.op, ast.Mult) else "1 / $scale"
    return Scores(inner.query, inner.key, template, {"scale": node.right})


def _with(inner: Scores, rest: str) -> Scores:
    return Scores(inner.query, inner.key, inner.scale, inner.parts, rest)


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


def weights_use(site: Site, node: ast.expr) -> tuple[ast.expr, str | None] | None:
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
