"""The opposite of a tensor's truth, as somebody writes it: ``(x != -1).all()``."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final

from tclint.records import record
from tclint.semantics.lattice import is_number, options
from tclint.semantics.site import Site
from tclint.semantics.values import DataScalar, Tensor

from ..judge.certainty import is_certainly_tensor

_QUANTIFIERS: Final = {"any": "all", "all": "any"}


@record(frozen=True)
class Opposite:
    """A template, and its parts by name."""

    template: str
    parts: Mapping[str, ast.expr]


def opposite(site: Site, node: ast.expr) -> Opposite | None:
    """What is true exactly where ``node``, a tensor, is not; None for all but `==` and `!=`.

    Unlike `<` and `>=`, these two are opposites for NaN as well.
    """
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Compare() as inner, attr=name)) if (
            name in _QUANTIFIERS and not node.args and not node.keywords
        ):
            return _quantified(site, inner, name)
        case ast.Call(func=function, args=[ast.Compare() as inner], keywords=[]):
            name = (site.dotted(function) or "").removeprefix("torch.")
            return _quantified(site, inner, name) if name in _QUANTIFIERS else None
        case ast.Compare():
            return _unequal(site, node)
    return None


def certain_opposite(site: Site, node: ast.expr) -> Opposite | None:
    """The opposite where tensors are certainly compared: `torch.any` takes no arrays."""
    compared = node
    if isinstance(node, ast.Call):
        compared = node.args[0] if node.args else getattr(node.func, "value", node)
    return opposite(site, node) if is_certainly_tensor(site, compared) else None


def _quantified(site: Site, compared: ast.Compare, name: str) -> Opposite | None:
    inner = _unequal(site, compared)
    if inner is None:
        return None
    return Opposite(f"({inner.template}).{_QUANTIFIERS[name]}()", inner.parts)


def _unequal(site: Site, compared: ast.Compare) -> Opposite | None:
    match compared.ops:
        case [ast.Eq()]:
            operator = "!="
        case [ast.NotEq()]:
            operator = "=="
        case _:
            return None
    sides = [compared.left, compared.comparators[0]]
    # A tensor is unequal to None and to texts at once, and the `bool` has no `all`.
    kinds = [kind for side in sides for kind in options(site.value(side))]
    if not all(isinstance(kind, (Tensor, DataScalar)) or is_number(kind) for kind in kinds):
        return None
    return Opposite(f"$left {operator} $right", dict(zip(("left", "right"), sides, strict=True)))
