"""A number that picks a row of a tensor: the same row by a tensor of one position."""

from __future__ import annotations

import ast
from typing import Final

from tclint.semantics.site import Site
from tclint.semantics.values import Tensor

from .arguments import certain_tensor
from .verdict import Changes, Refused, Verdict

_COMPUTED: Final = (ast.BinOp, ast.Compare, ast.UnaryOp)
_RANGE: Final = "a position out of range stops a GPU instead of raising IndexError"
_COPY: Final = "the row is a copy instead of a view"


def picked(site: Site, use: ast.expr) -> tuple[ast.Subscript, int] | None:
    """The subscript that ``use`` picks a row in, and the dimension, where only slices stand by."""
    parent = site.parent(use)
    members = parent.elts if isinstance(parent, ast.Tuple) else [use]
    subscript = site.parent(parent) if isinstance(parent, ast.Tuple) else parent
    if not isinstance(subscript, ast.Subscript) or not isinstance(subscript.ctx, ast.Load):
        return None
    if subscript.slice not in (use, parent) or certain_tensor(site, subscript.value) is None:
        return None
    if not all(member is use or isinstance(member, ast.Slice) for member in members):
        return None
    return subscript, members.index(use)


def judge_row(site: Site, subscript: ast.Subscript, position: Tensor) -> Verdict:
    """Judge ``x[n]`` as ``x[n.reshape(1)].squeeze(0)``."""
    if position.dtype is None or position.dtype.category != "int":
        return Refused("the index is not known to be an integer")
    view = "" if isinstance(site.parent(subscript), _COMPUTED) else f"; {_COPY}"
    return Changes(_RANGE + view)
