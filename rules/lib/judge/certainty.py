"""Is an expression certainly a tensor, or does only nothing speak against it?

A parameter without an annotation is taken for a tensor. A caller may pass a numpy array all the
same: what is written for it must then not need a method that arrays lack.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.semantics.lattice import all_are, options
from tclint.semantics.site import Site, once
from tclint.semantics.syntax import beside
from tclint.semantics.values import DataScalar, Object, Static, SymInt, Tensor
from tclint.torch_facts import is_tensor_member
from tclint.torch_facts.numbers import needs_tensor_first

from ..facts.known import is_parameter
from .verdict import PROVED, Changes, Verdict

_OF_ARRAYS: Final = frozenset(
    "T all any argmax argmin argpartition argsort astype base byteswap choose clip compress conj "
    "conjugate copy ctypes cumprod cumsum data device diagonal dot dtype dump dumps fill flags "
    "flat flatten getfield imag item itemset itemsize mT max mean min nbytes ndim newbyteorder "
    "nonzero partition prod ptp put ravel real repeat reshape resize round searchsorted setfield "
    "setflags shape size sort squeeze std strides sum swapaxes take to_device tobytes tofile "
    "tolist tostring trace transpose var view".split()
)
"""Members of numpy's arrays and scalars; those that tensors have as well say nothing."""
_SIMPLE: Final = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Assert)
_MAY_NOT_RUN: Final = (
    ast.Lambda, ast.IfExp, ast.BoolOp, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip
_HANDS_BACK: Final = frozenset({"torch.nn.Identity", "torch.nn.Sequential", "torch.nn.ModuleList"})


def tensors_only(site: Site, node: ast.expr) -> Verdict:
    """Judge a rewriting that calls a method on ``node`` that only tensors have."""
    if is_certainly_tensor(site, node):
        return PROVED
    return Changes(f"the fix fails if `{site.text(node)}` is a numpy array instead of a tensor")


def may_be_number(site: Site, node: ast.expr) -> bool:
    """True where ``node`` may as well be a Python number, which has none of a tensor's methods.

    A variable may, whose attributes nobody asks for, and what operators compute from such.
    """
    tensors = all(isinstance(option, Tensor) for option in options(site.value(node)))
    return tensors and not is_certainly_tensor(site, node) and _is_like_number(site, node)


def _is_like_number(site: Site, node: ast.expr) -> bool:
    found = list(options(site.value(node)))
    if not any(isinstance(option, Tensor) for option in found):
        return all(isinstance(option, (Static, SymInt, DataScalar)) for option in found)
    match node:
        case ast.Name(id=name):
            latest = site.flow.value(node)
            if latest is not None:
                return _is_like_number(site, latest)
            asked = (site.parent(load) for load in site.loads(name))
            return not any(isinstance(outer, ast.Attribute) for outer in asked)
        case ast.UnaryOp(operand=inner):
            return _is_like_number(site, inner)
        case ast.Subscript(value=inner, slice=index):
            one = not isinstance(index, (ast.Slice, ast.Tuple))
            return one and _is_like_number(site, inner)
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            return _is_like_number(site, left) and _is_like_number(site, right)
        case ast.Attribute(attr=name):
            return not is_tensor_member(name) and not is_certainly_tensor(site, node)
    return False


def is_certainly_tensor(site: Site, node: ast.expr) -> bool:
    """True where ``node`` is a tensor, or something else would have raised before."""
    return _is_certain(site, node, frozenset())


def _is_certain(site: Site, node: ast.expr, seen: frozenset[str]) -> bool:
    found = list(options(site.value(node)))
    if not all(isinstance(option, Tensor) for option in found):
        return False
    if not any(isinstance(option, Tensor) and option.assumed for option in found):
        return True
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr=name)):
            if (site.dotted(node.func) or "").startswith("torch.") or _is_tensors_own(name):
                return True
            return _is_certain(site, inner, seen)
        case ast.Subscript(value=inner) | ast.Attribute(value=inner):
            return _is_certain(site, inner, seen)
        case ast.UnaryOp(operand=inner):
            return _is_certain(site, inner, seen)
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            return _is_certain(site, left, seen) or _is_certain(site, right, seen)
        case ast.Name(id=name):
            # What a variable was before is what the other bindings make of it.
            return name in seen or _is_certain_name(site, node, seen | {name})
    return False


def _is_certain_name(site: Site, node: ast.Name, seen: frozenset[str]) -> bool:
    made = site.flow.definitions(node)
    if made != site.flow.made(node.id) or not _is_bound_to_tensors(site, node.id, seen):
        return False  # a comprehension's variable may be anything
    if is_parameter(site, node.id):
        return _has_been_used(site, node)
    return bool(site.stores(node.id))  # else it belongs to an outer scope


@once
def _is_bound_to_tensors(site: Site, name: str, seen: frozenset[str]) -> bool:
    """True where each binding of a variable in the function makes it a tensor, certainly."""
    return all(
        one.value is not None and _is_certain(site, one.value, seen)
        for one in site.flow.made(name)
        if not isinstance(one.node, (ast.AugAssign, ast.arg))
    )


def _has_been_used(site: Site, node: ast.Name) -> bool:
    """True where what runs before ``node`` has used the parameter as only a tensor can be."""
    uses = _proving_statements(site, node.id)
    return bool(uses) and any(statement in uses for statement in _before(site, node))


@once
def _proving_statements(site: Site, name: str) -> frozenset[ast.stmt]:
    """The plain statements that raise unless the parameter is a tensor."""
    return frozenset(
        around
        for load in site.loads(name)
        if _is_tensors_use(site, load) and _certainly_runs(site, load)
        for around in site.ancestors(load)
        if isinstance(around, _SIMPLE)
    )


def _before(site: Site, node: ast.expr) -> Iterator[ast.stmt]:
    """The plain statements that have run whenever ``node`` is evaluated."""
    inner: ast.AST = node
    for outer in site.ancestors(node):
        before, _ = beside(outer, inner)
        yield from (s for s in before if isinstance(s, _SIMPLE))
        if isinstance(outer, ast.Try):
            return  # a handler may run after less
        inner = outer


def _certainly_runs(site: Site, load: ast.Name) -> bool:
    return not any(isinstance(outer, _MAY_NOT_RUN) for outer in site.ancestors(load))


def _is_tensors_use(site: Site, load: ast.expr) -> bool:
    """``x.unsqueeze(0)``, ``torch.relu(x)``, ``self.linear(x > 0)``: all raise for an array."""
    parent = site.parent(load)
    if isinstance(parent, (ast.BinOp, ast.Compare)):
        sides = parent.comparators if isinstance(parent, ast.Compare) else [parent.right]
        others = [site.value(side) for side in (parent.left, *sides) if side is not load]
        known = all(all_are(other, Static, SymInt) for other in others)
        return known and _is_tensors_use(site, parent)
    if isinstance(parent, ast.Attribute):
        called = site.parent(parent)
        calls = isinstance(called, ast.Call) and called.func is parent
        return calls and _is_tensors_own(parent.attr)
    if not isinstance(parent, ast.Call) or load not in parent.args:
        return False
    dotted = site.dotted(parent.func) or ""
    if dotted.startswith("torch."):
        return load is parent.args[0] and needs_tensor_first(dotted)
    return any(
        isinstance(option, Object)
        and option.name.startswith("torch.nn.")
        and option.name not in _HANDS_BACK
        for option in options(site.value(parent.func))
    )


def _is_tensors_own(name: str) -> bool:
    return is_tensor_member(name) and name not in _OF_ARRAYS
