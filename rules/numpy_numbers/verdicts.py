"""What changes when a numpy scalar becomes a Python number of the same value?

Measured with numpy 2 and torch 2.13: arithmetic and comparisons with tensors of every dtype, on
both sides, give the same tensor for `np.int64` and `int`, and for `np.float64` and `float`.
Numbers among themselves differ only in type, when they overflow, and when they divide by zero.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Mapping, NDArray, Object, Sequence, Static, Tensor

from ..proofs.verdict import PROVED, Changes, Refused, Verdict, combine
from .flow import End, Step, call_around, index_around, is_truth_test

Least = Callable[[ast.expr], int | None]

_SAME_FOR_BOTH = frozenset(
    ("int", "float", "bool", "complex", "range", "str", "print", "round", "slice", "len")
)
_FROM_DATA = frozenset(("tensor", "as_tensor", "asarray", "scalar_tensor"))
_LISTS = ("torch.nn.ModuleList", "torch.nn.Sequential", "torch.nn.ParameterList")


def verdict_of(site: Site, way: Iterable[Step | End], least: Least) -> Verdict:
    """Judge all steps and ends; ``least`` gives a lower bound of an expression, if known."""
    return combine(
        _step(site, item, least) if isinstance(item, Step) else _end(site, item) for item in way
    )


def _step(site: Site, step: Step, least: Least) -> Verdict:
    node = step.node
    if isinstance(node, ast.Compare):
        identity = any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops)
        return Refused(f"`{site.text(node)}` asks for its identity") if identity else PROVED
    if isinstance(node, ast.BinOp):
        return _arithmetic(site, node, least)
    return PROVED


def _arithmetic(site: Site, node: ast.BinOp, least: Least) -> Verdict:
    if isinstance(node.op, ast.Pow):
        return Changes(f"`{site.text(node)}` neither wraps around nor refuses negative powers")
    if isinstance(node.op, (ast.LShift, ast.RShift)):
        return Changes(f"`{site.text(node)}` does not wrap around")
    if isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod)):
        bound = least(node.right)
        if bound is None or bound <= 0:
            why = f"`{site.text(node)}` raises ZeroDivisionError where numpy gives inf, nan or 0"
            return Changes(why)
    return PROVED


def _end(site: Site, end: End) -> Verdict:
    if end.lost:
        return Refused(end.lost)
    if is_truth_test(end) or isinstance(end.parent, ast.Expr):
        return PROVED
    subscript = index_around(site, end.use)
    if subscript is not None:
        return _index(site, subscript)
    match end.parent:
        case ast.BinOp(left=left, right=right):
            return _with_tensor(site, right if left is end.use else left)
        case ast.Compare(left=left, comparators=[right]):
            return _with_tensor(site, right if left is end.use else left)
        case ast.AugAssign(target=target):
            return _with_tensor(site, target)
        case ast.FormattedValue(conversion=conversion):
            same = conversion in (-1, ord("s"))
            return PROVED if same else Changes("the number is shown without its numpy type")
        case ast.Attribute(attr=name):
            return Refused(f"`.{name}` belongs to numpy's scalars")
        case ast.Assign(targets=[ast.Subscript(value=owner)]) if _is_tensor(site, owner):
            return PROVED
    call = call_around(site, end.use)
    if call is not None:
        return _argument(site, call, end)
    return _stored(site, end)


def _with_tensor(site: Site, other: ast.expr) -> Verdict:
    if _is_tensor(site, other):
        return PROVED
    return Changes(f"`{site.text(other)}` meets a Python number instead of a numpy scalar")


def _is_tensor(site: Site, node: ast.expr) -> bool:
    return all(isinstance(value, Tensor) for value in options(site.value(node)))


def _index(site: Site, subscript: ast.Subscript) -> Verdict:
    loaded = isinstance(subscript.ctx, ast.Load)
    for owner in options(site.value(subscript.value)):
        listed = isinstance(owner, (Tensor, NDArray, Sequence))
        layers = isinstance(owner, Object) and owner.name in _LISTS
        constant = isinstance(owner, (Mapping, Static)) and loaded
        if not (listed or layers or constant or _is_private_dict(site, subscript)):
            return Changes(f"`{site.text(subscript.value)}` is indexed by a Python number")
    return PROVED


def _is_private_dict(site: Site, subscript: ast.Subscript) -> bool:
    """True for a local dict that is only ever subscripted: nobody sees the type of its keys."""
    name = subscript.value
    if not isinstance(name, ast.Name) or len(site.stores(name.id)) != 1:
        return False
    assign = site.parent(site.stores(name.id)[0])
    if not isinstance(assign, ast.Assign) or not isinstance(assign.value, ast.Dict):
        return False
    return all(_only_subscripted(site, load) for load in site.loads(name.id))


def _only_subscripted(site: Site, load: ast.Name) -> bool:
    parent = site.parent(load)
    return isinstance(parent, ast.Subscript) and parent.value is load


def _argument(site: Site, call: ast.Call, end: End) -> Verdict:
    name = site.dotted(call.func) or ""
    if name in _SAME_FOR_BOTH or name.startswith("math."):
        return PROVED
    if name in ("isinstance", "type"):
        return Refused(f"`{site.text(call)}` asks for its type")
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name.startswith("torch.") or _is_method_of_tensor(site, call):
        makes_dtype = (method or name) in _FROM_DATA and end.kind != "int"
        change = f"`{site.text(call)}` gives the default dtype instead of float64"
        return Changes(change) if makes_dtype else PROVED
    if name.startswith("numpy."):
        arrays = any(isinstance(site.value(a), NDArray) for a in call.args)
        return Changes("numpy promotes arrays differently") if arrays else PROVED
    return Changes(f"`{site.text(call.func)}` is given a Python number instead of a numpy scalar")


def _is_method_of_tensor(site: Site, call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and _is_tensor(site, call.func.value)


def _stored(site: Site, end: End) -> Verdict:
    if isinstance(end.parent, (ast.Return, ast.Yield)):
        return Changes("the function's result is a Python number instead of a numpy scalar")
    return Changes(f"`{site.text(end.use)}` is kept as a Python number instead of a numpy scalar")
