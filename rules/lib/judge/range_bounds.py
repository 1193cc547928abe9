"""The bounds of `np.arange`: does `range` count the same between them?"""

from __future__ import annotations

import ast

from tclint.semantics.site import Site
from tclint.semantics.values import DataScalar

from ..facts.integers import is_surely_integer
from .verdict import PROVED, Changes, Refused, Verdict


def judge_bounds(site: Site, call: ast.Call) -> Verdict:
    """Judge ``range`` with the arguments of ``np.arange``."""
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
        return Changes("`range` raises another error for a step of zero")
    return PROVED


def _is_step(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and bool(node.value)
