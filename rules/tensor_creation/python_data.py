"""Tensors that are made of Python's data: one number, nothing, or what changes."""

from __future__ import annotations

import ast
import math
from typing import Final

from tclint.semantics.events import TensorFactory
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Static, SymInt

from .placement import FROM_DATA, number_type

_LARGEST: Final = 3.4e38
_SIZED: Final = frozenset({"torch.empty", "torch.zeros", "torch.ones"})


def is_one_number(event: TensorFactory) -> bool:
    """True for ``torch.tensor`` of one Python number, alone or in a list."""
    return number_of(event) is not None


def number_of(event: TensorFactory) -> ast.expr | None:
    """The one number that ``torch.tensor(0)`` or ``torch.tensor([0])`` is made of."""
    if event.function != "torch.tensor" or len(event.call.args) != 1:
        return None
    match event.call.args[0]:
        case ast.List(elts=[number]) | ast.Tuple(elts=[number]) | number:
            return number if number_type(event.site, number) is not None else None


def is_empty(event: TensorFactory) -> bool:
    """True for ``torch.tensor([])`` and ``torch.empty(0)``: there is nothing to copy."""
    if event.function in FROM_DATA and event.call.args:
        data = event.call.args[0]
        return isinstance(data, (ast.List, ast.Tuple)) and not data.elts
    return event.function in _SIZED and any(
        isinstance(size, ast.Constant) and size.value == 0
        for given in event.call.args
        for size in (given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given])
    )


def is_varying_data(event: TensorFactory) -> bool:
    """True for lists that the step makes: however it is done, they come from the host."""
    return event.function in FROM_DATA and not event.constant and not is_one_number(event)


def fits(site: Site, node: ast.expr) -> bool:
    """True for a number that `torch.full` takes as `torch.tensor` does.

    A float may be numpy's, which is one of Python's by type and would keep its dtype; one that
    float32 cannot hold becomes infinite or raises.
    """
    if number_type(site, node) != "float":
        return True
    values = {getattr(option, "value", None) for option in options(site.value(node))}
    return all(
        isinstance(value, float) and (abs(value) <= _LARGEST or not math.isfinite(value))
        for value in values
    )


def is_surely_number(site: Site, node: ast.expr) -> bool:
    """True for what can be no list or tensor, whatever an annotation says: nobody checks those."""
    match node:
        case ast.Constant():
            return True
        case ast.BinOp(left=left, right=right):
            return is_surely_number(site, left) and is_surely_number(site, right)
        case ast.UnaryOp(operand=operand):
            return is_surely_number(site, operand)
        case ast.Call(func=ast.Name(id="len" | "int" | "float" | "round")):
            return True
    kinds = options(site.value(node))
    return all(isinstance(o, SymInt) or (isinstance(o, Static) and o.known) for o in kinds)
