"""``for i in torch.arange(n)``, where ``i`` is a position and nothing else: counted by Python."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Applicability, Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Object, Sequence, Tensor
from tclint.torch_facts import is_tensor_member

from ..numpy_numbers.lengths import is_integer
from ..numpy_numbers.names import builtin
from ..numpy_numbers.positions import judge_bounds
from ..proofs.certainty import is_certain
from ..proofs.verdict import PROVED, Changes, Verdict, combine

_MESSAGE: Final = "Count with `range`"
_LISTS: Final = ("torch.nn.ModuleList", "torch.nn.Sequential", "torch.nn.ParameterList")


def count_with_range(site: Site, index: ast.expr) -> Repair | Decline | None:
    """Replace the ``torch.arange`` that ``index`` counts; None where it does not count one."""
    loop = _loop(site, index)
    if loop is None or not isinstance(loop.iter, ast.Call) or not isinstance(index, ast.Name):
        return None
    if not all(_is_position(site, load) for load in site.loads(index.id)):
        return Decline(f"`{index.id}` is used for more than positions")
    call = loop.iter
    if not call.args or any(isinstance(bound, ast.Starred) for bound in call.args):
        return None
    if any(keyword.arg != "device" for keyword in call.keywords):
        return Decline(f"`{site.text(call)}` may count other numbers than `range`")
    if not all(is_integer(site, bound) for bound in call.args):
        return Decline(
            f"`range` takes integers, which the bounds of `{site.text(call)}` may not be"
        )
    spelled = builtin(site, "range")
    if isinstance(spelled, Decline):
        return spelled
    bounds = judge_bounds(site, ast.Call(call.func, call.args, []))
    verdict = combine([bounds, *(_dimensions(site, load) for load in site.loads(index.id))])
    parts = {f"bound_{place}": bound for place, bound in enumerate(call.args)}
    counted = Replace(call, f"{spelled[0]}({', '.join(f'${name}' for name in parts)})", parts)
    if isinstance(verdict, Changes):
        return Repair(_MESSAGE, (counted,), Applicability.UNSAFE, verdict.what)
    return Repair(_MESSAGE, (counted,))


def _dimensions(site: Site, load: ast.Name) -> Verdict:
    """A tensor without dimensions refuses a number in other words than a tensor."""
    outer = next(node for node in site.ancestors(load) if isinstance(node, ast.Subscript))
    indexed = options(site.value(outer.value))
    known = all(value.rank for value in indexed if isinstance(value, Tensor))
    text = site.text(outer.value)
    return PROVED if known else Changes(f"the error has another text if `{text}` has no dimensions")


def _loop(site: Site, index: ast.expr) -> ast.For | None:
    """The one loop over ``torch.arange`` that a variable belongs to."""
    stores = site.stores(index.id) if isinstance(index, ast.Name) else []
    loop = site.parent(stores[0]) if len(stores) == 1 else None
    if not isinstance(loop, ast.For) or loop.target is not stores[0]:
        return None
    counts = isinstance(loop.iter, ast.Call) and site.dotted(loop.iter.func) == "torch.arange"
    return loop if counts else None


def _is_position(site: Site, load: ast.Name) -> bool:
    """True for ``i`` in ``x[i]``, ``x[i, 0]`` and ``layers[i]``: a number does the same there."""
    inner: ast.AST = load
    outer = site.parent(load)
    if isinstance(outer, ast.Tuple):
        inner, outer = outer, site.parent(outer)
    if not isinstance(outer, ast.Subscript) or outer.slice is not inner:
        return False
    kinds = list(options(site.value(outer.value)))
    if all(isinstance(kind, Tensor) for kind in kinds):
        return is_certain(site, outer.value) or _is_no_mapping(site, outer.value)
    return inner is load and all(
        isinstance(kind, Sequence) or (isinstance(kind, Object) and kind.name in _LISTS)
        for kind in kinds
    )


def _is_no_mapping(site: Site, owner: ast.expr) -> bool:
    """True for a variable that is computed with: keys are found by what they are."""
    if not isinstance(owner, ast.Name):
        return False
    around = [site.parent(load) for load in site.loads(owner.id)]
    return any(
        (isinstance(outer, ast.BinOp) and not isinstance(outer.op, ast.BitOr))
        or (isinstance(outer, ast.Attribute) and is_tensor_member(outer.attr))
        for outer in around
    )
