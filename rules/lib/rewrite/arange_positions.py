"""Positions in a tensor: `torch.arange` on its device in the place of a Python range."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Repair, Replace, Rewrite
from tclint.semantics.events import TensorIndex
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Static

from ..facts.integers import is_surely_integer, least
from ..judge.numbers import constant
from ..judge.verdict import PROVED, Changes, Refused, Verdict, combine
from .proved import repair_as_proved
from .torch_name import torch_name

_OF_ARRAYS = frozenset(("shape", "dtype", "device", "ndim", "size"))
_RANGES = ("range", "numpy.arange")


def range_call(site: Site, node: ast.expr) -> ast.Call | None:
    """The ``range(...)`` or ``np.arange(...)`` that an index is, or is a list of."""
    if not isinstance(node, ast.Call):
        return None
    name = site.dotted(node.func)
    if name in ("list", "tuple") and len(node.args) == 1:
        return range_call(site, node.args[0])
    return node if name in _RANGES else None


def is_varying(site: Site, node: ast.expr) -> bool:
    """True unless the range has the same length on every call."""
    call = range_call(site, node)
    if call is None:
        return True
    constant = all(isinstance(v, Static) for a in call.args for v in options(site.value(a)))
    sized = any(_is_len(site, part) for argument in call.args for part in ast.walk(argument))
    return sized or not constant


def _is_len(site: Site, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and site.dotted(node.func) == "len"


def use_arange(event: TensorIndex, ranges: Sequence[ast.expr]) -> Repair | Decline:
    """Replace all ranges of a subscript by positions on the tensor's device."""
    site, tensor = event.site, event.subscript.value
    if not _is_plain(tensor):
        return Decline(f"`{site.text(tensor)}` would be evaluated twice")
    spelled = torch_name(site, "torch.arange")
    if isinstance(spelled, Decline):
        return spelled
    name, imports = spelled
    verdicts: list[Verdict] = [
        PROVED if _has_device(event) else Changes(f"`{site.text(tensor)}` has to be a tensor")
    ]
    rewrites: list[Rewrite] = [*imports]
    for node in ranges:
        call = range_call(site, node)
        if call is None:
            return Decline(f"`{site.text(node)}` is not made here")
        verdicts.append(judge_bounds(site, call))
        names = [f"$bound{place}" for place in range(len(call.args))]
        parts = {f"bound{place}": bound for place, bound in enumerate(call.args)}
        template = f"{name}({', '.join(names)}, device=$tensor.device)"
        rewrites.append(Replace(node, template, {**parts, "tensor": tensor}))
    verdict = combine(verdicts)
    message = f"Use `{name}` on the tensor's device"
    return repair_as_proved(verdict, message, tuple(rewrites))


def _has_device(event: TensorIndex) -> bool:
    """True for a tensor; what is only believed to be one could be a dict, or a list.

    A variable that is asked for its shape or dtype is a tensor, or an array that has a device too.
    """
    site, owner = event.site, event.subscript.value
    if not event.tensor.assumed or not isinstance(owner, ast.Name):
        return not event.tensor.assumed
    asked = (site.parent(load) for load in site.loads(owner.id))
    return any(isinstance(node, ast.Attribute) and node.attr in _OF_ARRAYS for node in asked)


def _is_plain(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def judge_bounds(site: Site, call: ast.Call) -> Verdict:
    """Judge that `torch.arange` and `range` count the same with the arguments of a call."""
    if call.keywords or any(isinstance(a, ast.Starred) for a in call.args):
        return Refused("its bounds are not all written out")
    if not all(is_surely_integer(site, bound) for bound in call.args):
        return Changes("a bound that is not an integer gives other positions, or another error")
    if len(call.args) == 1:
        bound = least(site, call.args[0])
        if bound is not None and bound >= 0:
            return PROVED
    if _goes_up(site, call.args):
        return PROVED
    return Changes("`torch.arange` raises for a negative length, where a range is empty")


def _goes_up(site: Site, bounds: list[ast.expr]) -> bool:
    """True for written bounds from low to high."""
    known = [constant(site, bound) for bound in bounds]
    match known:
        case [int(first), int(last)]:
            return first <= last
        case [int(first), int(last), int(step)]:
            return step > 0 and first <= last
    return False
