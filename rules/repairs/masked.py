"""``if mask.any(): x[mask] = number``: the write alone does nothing for an empty mask."""

from __future__ import annotations

import ast

from tclint.diagnostics import Applicability
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.site import Site

from ..proofs.arguments import certain_tensor
from ..proofs.promotion import is_boolean
from ..proofs.purity import is_pure

_CHANGES = (
    "for an empty mask, too, autograd sees a write in place, the mask has to fit the tensor, and "
    "its dtype has to hold the number"
)


def drop_guard(site: Site, statement: ast.If) -> Repair | None:
    """Leave out a test whether a mask selects anything; None where that is not what it asks."""
    if statement.orelse or len(statement.body) != 1:
        return None
    mask = _asked(site, statement.test)
    kept = statement.body[0]
    written = _written(kept)
    if mask is None or written is None or ast.dump(written[1]) != ast.dump(mask):
        return None
    owner, _, value = written
    tensor = certain_tensor(site, mask)
    if tensor is None or not is_boolean(tensor) or not _is_number(site, value):
        return None
    if not is_pure(site, mask) or not is_pure(site, owner):
        return None
    target = certain_tensor(site, owner)
    if target is None or target.role == "parameter":  # a leaf raises where it is written at all
        return None
    return Repair(
        "Write always: an empty mask selects nothing",
        (Replace(statement, "$kept", {"kept": kept}),),
        Applicability.UNSAFE,
        _CHANGES,
    )


def _written(statement: ast.stmt) -> tuple[ast.expr, ast.expr, ast.expr] | None:
    """What ``x[mask] = value`` and ``x.masked_fill_(mask, value)`` write into, where, and what."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=owner, slice=mask)], value=value):
            return owner, mask, value
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=owner, attr="masked_fill_"),
                args=[mask, value],
                keywords=[],
            )
        ):
            return owner, mask, value
    return None


def _asked(site: Site, test: ast.expr) -> ast.expr | None:
    """The mask of ``mask.any()``, ``torch.any(mask)`` and ``mask.sum() > 0``."""
    match test:
        case ast.Compare(
            left=counted,
            ops=[ast.Gt() | ast.NotEq()],
            comparators=[ast.Constant(value=0)],
        ):
            return _reduced(site, counted, "sum")
    return _reduced(site, test, "any") or _reduced(site, test, "sum")


def _reduced(site: Site, node: ast.expr, name: str) -> ast.expr | None:
    match node:
        case ast.Call(func=function, args=[mask], keywords=[]):
            return mask if site.dotted(function) == f"torch.{name}" else None
        case ast.Call(func=ast.Attribute(value=mask, attr=attr), args=[], keywords=[]):
            return mask if attr == name else None
    return None


def _is_number(site: Site, node: ast.expr) -> bool:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_number(site, operand)
        case ast.Constant(value=int() | float()):
            return True
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant()], keywords=[]):
            return True
    return site.dotted(node) in ("math.inf", "math.nan", "torch.inf", "torch.nan", "numpy.inf")
