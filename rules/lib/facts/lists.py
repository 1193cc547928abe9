"""Lists of numbers that went into a tensor, and are read back from it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain
from typing import Final

from tclint.semantics.bounds import Bound
from tclint.semantics.lattice import options
from tclint.semantics.ownership import is_unshared
from tclint.semantics.site import Site
from tclint.semantics.values import Sequence, Static, SymInt, Tensor, Value

from .known import is_parameter

_MAKES: Final = ("torch.tensor", "torch.as_tensor", "torch.asarray")
_OF_INTEGERS: Final = ("torch.LongTensor", "torch.IntTensor")
_JOINS: Final = ("torch.cat", "torch.concat", "torch.concatenate")
_INTEGERS: Final = ("torch.int64", "torch.long", "torch.int32", "torch.int")
_LOOKS: Final = ("tolist", "shape", "size", "numel", "dim", "ndim", "device", "dtype")
VARIABLES: Final = Bound(4, "variables to find what a tensor was made of", hides=False)


def known_list(site: Site, tensor: ast.expr) -> str | None:
    """The list that a tensor was made of, as source; None unless it holds the same still.

    The source stands where the tensor does, so that the variables in it must not have changed.
    """
    members = known_members(site, tensor)
    return None if members is None else f"[{', '.join(written_member(site, m) for m in members)}]"


def known_members(site: Site, tensor: ast.expr) -> list[ast.expr] | None:
    """The numbers that a tensor was made of, under the conditions of :func:`known_list`.

    A list or tuple of them that has a name is one starred member.
    """
    return _members(site, tensor, VARIABLES.most)


def written_member(site: Site, member: ast.expr) -> str:
    """The source of a member of a known list."""
    if isinstance(member, ast.Starred):
        return f"*{site.text(member.value)}"
    return site.text(member)


def _members(site: Site, node: ast.expr, depth: int) -> list[ast.expr] | None:
    if isinstance(node, ast.Name):
        if not depth:
            VARIABLES.cut()
            return None
        made = only_value(site, node.id)
        return None if made is None else _members(site, made, depth - 1)
    if not isinstance(node, ast.Call) or not node.args:
        return None
    name, given = site.dotted(node.func), node.args[0]
    if name in _JOINS and isinstance(given, (ast.List, ast.Tuple)) and _along_first(node):
        parts = [_members(site, part, depth) for part in given.elts]
        known = [part for part in parts if part is not None]
        return [*chain.from_iterable(known)] if len(known) == len(parts) else None
    if len(node.args) > 1 or not _makes_integers(site, node, name or ""):
        return None
    moved = depth < VARIABLES.most
    if moved and not all(stays(site, name) for name in _names(site, given)):
        return None
    return _written(site, given)


def only_value(site: Site, name: str) -> ast.expr | None:
    """What a local variable is assigned, once and always, if nothing can change what it holds."""
    stores = site.stores(name)
    binding = site.parent(stores[0]) if len(stores) == 1 else None
    if not isinstance(binding, ast.Assign) or binding.targets != stores or site.facts.loops:
        return None
    if binding not in getattr(site.body.scope, "body", ()):
        return None
    return binding.value if all(_only_looks(site, load) for load in site.loads(name)) else None


def _only_looks(site: Site, load: ast.Name) -> bool:
    """True where a tensor is asked for what it holds, or a list or tensor is copied."""
    outer = site.parent(load)
    if isinstance(outer, ast.Attribute):
        return outer.attr in _LOOKS
    inside = isinstance(outer, (ast.List, ast.Tuple, ast.keyword))
    call = site.parent(outer) if inside and outer is not None else outer
    if not isinstance(call, ast.Call) or call.func is load:
        return False
    if site.dotted(call.func) in (*_JOINS, *_MAKES, *_OF_INTEGERS, "torch.repeat_interleave"):
        return True
    match call.func:
        case ast.Attribute(value=owner, attr="repeat_interleave"):
            return all(isinstance(kind, Tensor) for kind in options(site.value(owner)))
    return False


def _names(site: Site, node: ast.expr) -> Iterator[ast.Name]:
    """The variables that an expression reads; not the names of modules."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id not in site.module.imports:
            yield part


def stays(site: Site, name: ast.Name) -> bool:
    """True for a variable that is bound once, to something that cannot change."""
    if not _is_bound_once(site, name.id):
        return False
    kinds = [*options(site.value(name))]
    fixed = (isinstance(k, Sequence) and k.type in ("tuple", "Size") for k in kinds)
    return all(fixed) or all(map(_is_int, kinds)) or only_value(site, name.id) is not None


def _is_bound_once(site: Site, name: str) -> bool:
    """True for an argument, a variable or a global that nothing gives another value."""
    bindings = len(site.stores(name)) + is_parameter(site, name)
    if bindings:
        return bindings == 1 and is_unshared(site, name)
    declared = (one for one in ast.walk(site.module.tree) if isinstance(one, ast.Global))
    return name in site.module.assigned and all(name not in one.names for one in declared)


def _along_first(call: ast.Call) -> bool:
    given = [*call.args[1:], *(k.value for k in call.keywords if k.arg == "dim")]
    plain = len(given) == len(call.args) - 1 + len(call.keywords)
    return plain and all(isinstance(g, ast.Constant) and g.value == 0 for g in given)


def _makes_integers(site: Site, call: ast.Call, name: str) -> bool:
    """True for a call that makes a tensor of the numbers given, all of them integers."""
    if name in _OF_INTEGERS:
        return not call.keywords
    if name not in _MAKES:
        return False
    # Without a dtype, no numbers at all would make a tensor of floats, and others with it.
    certain = isinstance(call.args[0], (ast.List, ast.Tuple)) and bool(call.args[0].elts)
    return is_of_integers(site, call, implied=certain)


def is_of_integers(site: Site, call: ast.Call, *, implied: bool) -> bool:
    """True where a factory's tensor holds integers: by ``dtype``, or as ``implied``."""
    if any(keyword.arg not in ("dtype", "device") for keyword in call.keywords):
        return False
    dtypes = [site.dotted(k.value) for k in call.keywords if k.arg == "dtype"]
    return all(dtype in _INTEGERS for dtype in dtypes) and (bool(dtypes) or implied)


def _written(site: Site, given: ast.expr) -> list[ast.expr] | None:
    if isinstance(given, (ast.List, ast.Tuple)):
        numbers = all(_is_int(kind) for part in given.elts for kind in options(site.value(part)))
        return [*given.elts] if numbers else None
    for kind in options(site.value(given)):
        if not isinstance(kind, Sequence) or kind.type not in ("list", "tuple", "Size"):
            return None
        members = kind.items if kind.items is not None else (kind.element,)
        if not all(_is_int(option) for member in members for option in options(member)):
            return None
    return [ast.Starred(value=given, ctx=ast.Load())]


def _is_int(value: Value) -> bool:
    return isinstance(value, SymInt) or (isinstance(value, Static) and value.type == "int")
