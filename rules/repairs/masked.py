"""``if mask.any(): x[mask] = number``: the assignment alone does nothing for an empty mask."""

from __future__ import annotations

import ast

from tclint.diagnostics import Applicability
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.site import Site

from ..proofs.arguments import certain_tensor
from ..proofs.promotion import is_boolean
from ..proofs.purity import is_pure

_CHANGES = (
    "for an empty mask, too, autograd sees a write in place, and the mask has to fit the tensor"
)


def drop_guard(site: Site, statement: ast.If) -> Repair | None:
    """Leave out a test whether a mask selects anything; None where that is not what it asks."""
    if statement.orelse or len(statement.body) != 1:
        return None
    mask = _asked(site, statement.test)
    match statement.body[0]:
        case ast.Assign(targets=[ast.Subscript(slice=index)], value=value) as assign:
            if mask is None or ast.dump(index) != ast.dump(mask) or not _is_number(site, value):
                return None
            tensor = certain_tensor(site, mask)
            if tensor is None or not is_boolean(tensor) or not is_pure(site, assign.targets[0]):
                return None
            rewrite = Replace(statement, "$assign", {"assign": assign})
            return Repair(
                "Assign always: an empty mask selects nothing",
                (rewrite,),
                Applicability.UNSAFE,
                _CHANGES,
            )
    return None


def _asked(site: Site, test: ast.expr) -> ast.expr | None:
    """The mask of ``mask.any()`` and ``torch.any(mask)``."""
    match test:
        case ast.Call(func=function, args=[mask], keywords=[]):
            return mask if site.dotted(function) == "torch.any" else None
        case ast.Call(func=ast.Attribute(value=mask, attr="any"), args=[], keywords=[]):
            return mask
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
