"""Bounds of a range: do numpy, torch and Python count the same between them?"""

from __future__ import annotations

import ast

from tclint.semantics.site import Site
from tclint.semantics.values import DataScalar

from ..facts.integers import is_surely_integer, least
from ..facts.known import constant
from .verdict import PROVED, Changes, Refused, Verdict


def judge_numpy_arange(site: Site, call: ast.Call) -> Verdict:
    """Judge ``range`` in the place of ``np.arange``, with the arguments of a call."""
    if call.keywords:
        return Refused(f"`range` takes no `{call.keywords[0].arg or '**'}=`")
    if not 1 <= len(call.args) <= 3 or any(isinstance(a, ast.Starred) for a in call.args):
        return Refused("`range` takes one to three bounds")
    for bound in call.args:
        if isinstance(site.value(bound), DataScalar):
            return Refused(f"`{site.text(bound)}` is read from a tensor")
        if isinstance(bound, ast.Constant) and isinstance(bound.value, float):
            return Refused(f"`{site.text(bound)}` is a float")
    unsure = [b for b in call.args if not is_surely_integer(site, b)]
    if unsure:
        return Changes(f"`range` raises TypeError if `{site.text(unsure[0])}` is not an integer")
    if len(call.args) == 3 and not _is_step(call.args[2]):
        return Changes("`range` raises a different error for a step of zero")
    return PROVED


def _is_step(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and bool(node.value)


def judge_torch_arange(site: Site, call: ast.Call) -> Verdict:
    """Judge ``torch.arange`` and ``range``, one in the place of the other."""
    if call.keywords or any(isinstance(a, ast.Starred) for a in call.args):
        return Refused("the bounds are passed as `*args` or by keyword")
    if not all(is_surely_integer(site, bound) for bound in call.args):
        return Changes(
            "a bound that is not an integer gives different positions, or a different error"
        )
    if len(call.args) == 1:
        bound = least(site, call.args[0])
        if bound is not None and bound >= 0:
            return PROVED
    if _goes_up(site, call.args):
        return PROVED
    return Changes("`torch.arange` raises for a negative length, where `range` is empty")


def _goes_up(site: Site, bounds: list[ast.expr]) -> bool:
    """True for written bounds from low to high."""
    known = [constant(site, bound) for bound in bounds]
    match known:
        case [int(first), int(last)]:
            return first <= last
        case [int(first), int(last), int(step)]:
            return step > 0 and first <= last
    return False
