"""A number stored into a slice whose bounds live on the device: stored by a mask instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field
from typing import Final

from tclint.diagnostics import Change, Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.records import record
from tclint.semantics.lattice import is_number, options
from tclint.semantics.site import Site
from tclint.semantics.values import DataScalar, Static, Tensor

from ..facts.known import certain_tensor, constant
from ..facts.purity import is_pure
from ..judge.numbers import bound_of
from ..judge.same_device import judge_chosen
from ..judge.verdict import Changes
from .proved import NO_TORCH

_RANK: Final = "a tensor with too few dimensions raises a different error"
_BOUNDS: Final = (
    "a negative bound no longer counts from the end, and a fraction no longer raises TypeError"
)
_OWNERS: Final = (ast.Name, ast.Attribute)


@record()
class _Writing:
    """The lines that make the masks, and the nodes that they are made of by placeholder."""

    site: Site
    arange: str
    parts: dict[str, ast.expr]
    lines: list[str] = field(default_factory=list)

    def part(self, node: ast.expr) -> str:
        """A placeholder for a node."""
        name = f"part_{len(self.parts)}"
        self.parts[name] = node
        return f"${name}"

    def fresh(self, wanted: str) -> str:
        """A variable's name that the function does not use."""
        while self.site.body.names(wanted):
            wanted += "_"
        return wanted


def store_by_mask(site: Site, bound: ast.expr, statement: ast.stmt) -> Repair | Decline:
    """Rewrite ``x[i, :n] = 0`` as ``x[i, torch.arange(x.shape[1]) < n] = 0``."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Subscript):
        return Decline("the length of the slice is not known in advance")
    if not any(part is bound for part in ast.walk(target.slice)):
        return Decline("the length of the slice is not known in advance")
    spelled = site.spell("torch.arange")
    if spelled is None:
        return NO_TORCH
    obstacle = _obstacle(site, statement, target)
    if obstacle:
        return Decline(obstacle)
    members = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    writing = _Writing(site, spelled, {"base": target.value, "stored": statement.value})
    written = _index(writing, members)
    if written is None:
        return Decline("a mask can replace only one slice, or two adjacent ones")
    lines = "\n".join([*writing.lines, f"$base[{written}] = $stored"])
    rewrite = Replace(statement, lines, writing.parts)
    changes = "; ".join(_changes(site, target.value, members))
    message = "Store it through a mask"
    if not changes:
        return Repair(message, (rewrite,))
    return Repair(message, (rewrite,), Change.BEHAVIOUR, changes)


def _changes(site: Site, base: ast.expr, members: list[ast.expr]) -> Iterator[str]:
    tensor = certain_tensor(site, base)
    if tensor is None or tensor.rank is None or tensor.rank < len(members):
        yield _RANK
    bounds = [b for m in members if isinstance(m, ast.Slice) for b in (m.lower, m.upper) if b]
    read = [bound for bound in bounds if _is_read(site, bound)]
    if not all(_is_count(site, bound) for bound in read):
        yield _BOUNDS
    place = judge_chosen(site, read, [base])
    if isinstance(place, Changes):
        yield place.what


def _obstacle(site: Site, statement: ast.Assign, target: ast.Subscript) -> str:
    if len(statement.targets) != 1:
        return "the value is assigned to several targets"
    kinds = list(options(site.value(statement.value)))
    if not all(isinstance(k, Static) and k.type in ("int", "float", "bool") for k in kinds):
        return "only a number can be stored through a mask of any size"
    if not isinstance(target.value, _OWNERS) or certain_tensor(site, target.value) is None:
        return f"`{site.text(target.value)}` is not known to be a tensor with a name"
    members = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    # The bounds are evaluated once before and after, but now ahead of the other members.
    if all(isinstance(member, ast.Slice) or is_pure(site, member) for member in members):
        return ""
    return "the index may have side effects"


def _index(writing: _Writing, members: list[ast.expr]) -> str | None:
    """The text of the index with a mask in the place of the slices; None where that cannot be."""
    texts: list[str] = []
    sliced: dict[int, ast.Slice] = {}
    dots = isinstance(members[0], ast.Constant) and members[0].value is ...
    for place, member in enumerate(members):
        if isinstance(member, ast.Slice):
            if member.step is not None:
                return None
            if any(_is_read(writing.site, b) for b in (member.lower, member.upper)):
                sliced[place] = member
            else:
                ends = (b and writing.part(b) for b in (member.lower, member.upper))
                texts.append(":".join(end or "" for end in ends))
        elif place == 0 and dots:
            texts.append("...")
        elif is_number(writing.site.value(member), "int"):
            texts.append(writing.part(member))
        else:
            return None
    places = list(sliced)
    if len(places) not in (1, 2) or places[-1] - places[0] != len(places) - 1:
        return None
    names = ["inside"] if len(places) == 1 else ["rows", "columns"]
    for i, (place, part) in enumerate(sliced.items()):
        names[i] = writing.fresh(names[i])
        _write_mask(writing, names[i], part, place - len(members) if dots else place)
    whole = names[0] if len(names) == 1 else f"{names[0]}[:, None] & {names[1]}"
    return ", ".join([*texts[: places[0]], whole, *texts[places[0] :]])


def _write_mask(writing: _Writing, name: str, part: ast.Slice, dimension: int) -> None:
    """The lines that make ``name`` the mask of the slice in a dimension."""
    places = f"{writing.arange}($base.shape[{dimension}], device=$base.device)"
    lower = None if part.lower is None else writing.part(part.lower)
    upper = None if part.upper is None else writing.part(part.upper)
    if lower is None:
        writing.lines.append(f"{name} = {places} < {upper}")
    elif upper is None:
        writing.lines.append(f"{name} = {places} >= {lower}")
    else:
        between = f"({name} >= {lower}) & ({name} < {upper})"
        writing.lines += [f"{name} = {places}", f"{name} = {between}"]


def _is_read(site: Site, bound: ast.expr | None) -> bool:
    """True for a bound whose value is, or was read, on the device."""
    kinds = () if bound is None else options(site.value(bound))
    return any(isinstance(kind, (Tensor, DataScalar)) for kind in kinds)


def _is_count(site: Site, node: ast.expr) -> bool:
    """True for a whole number that is certainly not negative."""
    if isinstance(node, ast.Name):
        held = site.flow.value(node)
        return held is not None and _is_count(site, held)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mult)):
        return _is_count(site, node.left) and _is_count(site, node.right)
    value = constant(site, node)
    if value is not None:
        return isinstance(value, int) and value >= 0
    match node:
        case ast.Call(func=ast.Attribute(value=node, attr="item")):
            pass
        case ast.Call(func=ast.Name(id="int"), args=[inner]):
            return _is_count(site, inner)
    tensor = certain_tensor(site, node)
    return tensor is not None and tensor.rank == 0 and bound_of(site, node) is not None
