"""TCL605: a one-hot encoding multiplied by a matrix."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Confidence, Decline, Effect, Worth
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call
from tclint.semantics.site import Site

from ..lib.judge.verdict import Changes
from .def_use import only_use, reaches, without_leftovers
from .operations import matrix_product, operation
from .replacing import replaced

_CASTS: Final = ("float", "to", "type_as", "type", "half", "double", "bfloat16")
_CHANGES: Final = Changes(
    "an inf or NaN in another row no longer makes the result NaN, and the matrix may have more "
    "rows than there are classes"
)
_Product = tuple[ast.expr, ast.expr, ast.expr]


class OneHotMatmul(Rule[Call]):
    """A one-hot encoding multiplied by a matrix."""

    code = "TCL605"
    name = "one-hot-matmul"
    summary = "A one-hot encoding times a matrix is a slow way to pick rows"
    instead = "Use `F.embedding(index, weight)`"
    worth = Worth.MEDIUM
    measured = "0.27 ms of 0.64 in compiled code (H200); on a CPU nearly all of it"
    on = Call
    called = ("one_hot",)
    effects = (Effect.LAUNCH_OVERHEAD,)

    def check(self, event: Call) -> Finding | None:
        """Look at where a one-hot encoding goes."""
        if event.function != "torch.nn.functional.one_hot":
            return None
        site = event.site
        hot = operation(site, event.node, "one_hot")
        product = _product(site, hot.node) if hot else None
        if hot is None or product is None:
            return None
        rank = getattr(site.value(product[2]), "rank", None)
        if rank not in (None, 2):
            return None
        return Finding(
            "A product with a one-hot encoding only picks rows, and multiplies all the zeros",
            _repair(site, hot.subject, product),
            node=product[0],
            confidence=Confidence.MEDIUM,
        )


def _product(site: Site, node: ast.expr) -> _Product | None:
    """The matrix product that a value is the left side of, and both its sides."""
    outer = site.parent(node)
    while isinstance(outer, ast.Attribute) and outer.attr in _CASTS:
        cast = site.parent(outer)
        if not isinstance(cast, ast.Call) or cast.func is not outer:
            return None
        node, outer = cast, site.parent(cast)
    if isinstance(outer, ast.Assign):
        use = only_use(site, node)
        return _product(site, use) if use else None
    found = matrix_product(site, node)
    return (found[0], node, found[1]) if found else None


def _repair(site: Site, index: ast.expr, product: _Product) -> Repair | Decline:
    whole, left, weight = product
    if not reaches(site, index, whole):
        return Decline(f"`{site.text(index)}` changes in between")
    arguments = {"index": index, "weight": weight}
    embedding = "torch.nn.functional.embedding"
    fix = replaced(
        site, whole, embedding, arguments, _CHANGES, positional=2, leaves=True, keeps=[index]
    )
    return (
        fix
        if isinstance(fix, Decline)
        else without_leftovers(site, fix, whole, [left], arguments.values())
    )
