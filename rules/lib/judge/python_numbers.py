"""What changes when a numpy scalar becomes a Python number of the same value?

Measured with numpy 2 and torch 2.13: arithmetic and comparisons with tensors of every dtype, on
both sides, give the same tensor for `np.int64` and `int`, and for `np.float64` and `float`, but not
for `np.bool_` and `bool`. Numbers among themselves differ only in type, when they overflow, and
when they divide by zero; `np.bool_` has operators of its own.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable

from tclint.semantics.bounds import Bound
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Mapping, NDArray, NumpyScalar, Object, Sequence, Static, Tensor
from tclint.torch_facts.factories import factory
from tclint.torch_facts.operations import takes_number
from tclint.torch_facts.pointwise import has_operands

from ..facts.branch_tests import is_only_asked
from ..facts.number_flow import (
    SAME_KIND,
    End,
    Step,
    call_around,
    index_around,
    is_float,
    is_truth_test,
)
from .certainty import is_certainly_tensor
from .verdict import PROVED, Changes, Refused, Verdict, combine

Least = Callable[[ast.expr], int | None]
_Converted = set[str | ast.expr]
"""The variables and expressions that are Python numbers afterwards."""

_SAME_FOR_BOTH = frozenset(
    ("int", "float", "bool", "complex", "range", "str", "print", "round", "len")
)
_SHOWS_MEMBERS = frozenset(("print", "str"))
INT_BITS, _FLOAT_BITS = 31, 990
"""What a count may be multiplied by, and sums of such: all numbers of numpy hold the result."""
_FROM_DATA = frozenset(("tensor", "as_tensor", "asarray", "scalar_tensor"))
_LISTS = ("torch.nn.ModuleList", "torch.nn.Sequential", "torch.nn.ParameterList")


def verdict_of(
    site: Site, way: Iterable[Step | End], least: Least, own: Iterable[str] = ()
) -> Verdict:
    """Judge all steps and ends; ``least`` gives a lower bound of an expression, if known.

    ``own`` are variables that hold such numbers as well afterwards.
    """
    items = [*way]
    named = (item.use.id for item in items if isinstance(item.use, ast.Name))
    converted: _Converted = {*named, *own, *(item.use for item in items)}
    return combine(
        _step(site, item, least, converted) if isinstance(item, Step) else _end(site, item)
        for item in items
    )


def _step(site: Site, step: Step, least: Least, own: _Converted) -> Verdict:
    node = step.node
    if _meets_numpy(site, node, own):
        return Changes(f"numpy computes `{site.text(node)}` differently with a Python number")
    if isinstance(node, ast.Compare):
        identity = any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops)
        return Refused(f"`{site.text(node)}` compares by identity") if identity else PROVED
    negation = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    if step.kind == "bool" and isinstance(node, (ast.BinOp, ast.UnaryOp)) and not negation:
        return Changes(f"`{site.text(node)}` computes with a `bool` instead of an `np.bool_`")
    if isinstance(node, ast.BinOp):
        return _arithmetic(site, node, least, step.kind)
    return PROVED


def _meets_numpy(site: Site, node: ast.expr, own: _Converted) -> bool:
    """True where an operand stays numpy's: with `np.float32` a Python number is one, too."""
    match node:
        case ast.BinOp(left=left, right=right):
            operands = [left, right]
        case ast.Compare(left=left, comparators=others):
            operands = [left, *others]
        case ast.UnaryOp(operand=inner):
            operands = [inner]
        case ast.IfExp(body=one, orelse=other):
            operands = [one, other]
        case ast.Call(func=ast.Name() as function, args=given) if (
            site.dotted(function) in SAME_KIND
        ):
            operands = given
        case _:
            return any(isinstance(kind, NumpyScalar) for kind in options(site.value(node)))
    return any(not _is_own(one, own) and _meets_numpy(site, one, own) for one in operands)


def _is_own(node: ast.expr, own: _Converted) -> bool:
    match node:
        case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)) if name in own:
            return True
    return node in own


def _arithmetic(site: Site, node: ast.BinOp, least: Least, kind: str) -> Verdict:
    if isinstance(node.op, ast.Pow):
        return Changes(
            f"`{site.text(node)}` no longer wraps around, nor raises for negative powers"
        )
    if isinstance(node.op, (ast.LShift, ast.RShift)):
        return Changes(f"`{site.text(node)}` no longer wraps around")
    if isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod)):
        bound = least(node.right)
        if bound is None or bound <= 0:
            why = f"`{site.text(node)}` raises ZeroDivisionError where numpy gives inf, nan or 0"
            return Changes(why)
    size = bits(site, node)
    if kind == "float" or is_float(site, node):
        warns = Changes(f"`{site.text(node)}` no longer warns where it overflows")
        return warns if size >= _FLOAT_BITS else PROVED
    return Changes(f"`{site.text(node)}` no longer wraps around") if size >= INT_BITS else PROVED


SIZES = Bound(8, "variables to see how large a number gets", hides=False)


def bits(site: Site, node: ast.expr, depth: int = SIZES.most) -> float:
    """How many bits the written numbers add to what is counted."""
    match node:
        case ast.Tuple(elts=members) | ast.List(elts=members):
            return sum(bits(site, member, depth) for member in members)
        case ast.Constant(value=int() | float() as value):
            return math.log2(abs(value)) if abs(value) >= 1 else 0
        case ast.UnaryOp(operand=inner):
            return bits(site, inner, depth)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as power)):
            return bits(site, left, depth) * power
        case ast.BinOp(left=left, op=op, right=right):
            sides = bits(site, left, depth), bits(site, right, depth)
            if isinstance(op, (ast.Mult, ast.LShift)):
                return sum(sides)
            return max(sides) + 1 if isinstance(op, (ast.Add, ast.Sub)) else sides[0]
        case ast.Name() if not depth:
            SIZES.cut()
            return math.inf
        case ast.Name(id=name):
            bound = [site.parent(store) for store in site.stores(name)]
            values = [one.value for one in bound if isinstance(one, ast.Assign)]
            return max((bits(site, value, depth - 1) for value in values), default=0)
    return 0


def _end(site: Site, end: End) -> Verdict:
    if end.lost:
        return Refused(end.lost)
    if isinstance(end.parent, ast.BoolOp):
        return PROVED if is_only_asked(site, end.parent) else _stored(site, end)
    if is_truth_test(end) or isinstance(end.parent, ast.Expr):
        return PROVED
    return _boolean(site, end) if end.kind == "bool" else _number(site, end)


def _number(site: Site, end: End) -> Verdict:
    subscript = index_around(site, end.use)
    if subscript is not None:
        return _index(site, subscript, end)
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
            return Refused(f"`.{name}` is an attribute of numpy scalars")
        case ast.Assign(targets=[ast.Subscript(value=owner)]) if is_certainly_tensor(site, owner):
            return PROVED
    call = call_around(site, end.use)
    if call is not None:
        return _argument(site, call, end)
    return _stored(site, end)


def _boolean(site: Site, end: End) -> Verdict:
    """A `np.bool_` is no number to torch, and shows itself in another way in a container."""
    call = call_around(site, end.use)
    shown = isinstance(end.parent, ast.FormattedValue) and end.parent.format_spec is None
    if shown or (call is not None and call is end.parent and _is_same_for_both(site, call)):
        return PROVED
    return Changes(f"`{site.text(end.use)}` is a `bool` instead of an `np.bool_`")


def _is_same_for_both(site: Site, call: ast.Call) -> bool:
    name = site.dotted(call.func) or ""
    if name == "round" and len(call.args) + len(call.keywords) > 1:
        return False  # gives the type that it was given
    return name in _SAME_FOR_BOTH


def _with_tensor(site: Site, other: ast.expr) -> Verdict:
    if is_certainly_tensor(site, other):
        return PROVED
    return Changes(f"`{site.text(other)}` meets a Python number instead of a numpy scalar")


def _index(site: Site, subscript: ast.Subscript, end: End) -> Verdict:
    owners = [*options(site.value(subscript.value))]
    if end.kind == "float" and not all(isinstance(owner, Mapping) for owner in owners):
        return _names_type(site, end)
    loaded = isinstance(subscript.ctx, ast.Load)
    for owner in owners:
        listed = isinstance(owner, (Tensor, NDArray, Sequence))
        layers = isinstance(owner, Object) and owner.name in _LISTS
        constant = isinstance(owner, (Mapping, Static)) and loaded
        if not (listed or layers or constant):
            return Changes(f"`{site.text(subscript.value)}` is indexed by a Python number")
    return PROVED


def _names_type(site: Site, end: End) -> Verdict:
    """Where an integer is needed, a float raises, and the text says what it was given."""
    return Changes(
        f"the error for `{site.text(end.use)}` not being an integer names a different type"
    )


def _argument(site: Site, call: ast.Call, end: End) -> Verdict:
    name = site.dotted(call.func) or ""
    direct = end.parent is call or isinstance(end.parent, ast.keyword)
    if end.kind == "float" and name == "range":
        return _names_type(site, end)
    if _is_same_for_both(site, call) and (direct or name not in _SHOWS_MEMBERS):
        return PROVED
    if name.startswith("math.") and direct:
        return PROVED
    if name in ("isinstance", "type"):
        return Refused(f"`{site.text(call)}` asks for the number's type")
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name.startswith("torch.") or _is_method_of_tensor(site, call):
        makes_dtype = (method or name) in _FROM_DATA and end.kind != "int"
        change = f"`{site.text(call)}` gives the default dtype instead of float64"
        if makes_dtype:
            return Changes(change)
        takes = end.kind != "float" or _takes_floats((method or name).removesuffix("_"))
        return PROVED if takes else _names_type(site, end)
    if name.startswith("numpy."):
        arrays = any(isinstance(site.value(a), NDArray) for a in call.args)
        return Changes("numpy promotes arrays differently") if arrays else PROVED
    return Changes(f"`{site.text(call.func)}` is given a Python number instead of a numpy scalar")


def _takes_floats(key: str) -> bool:
    """True for what computes with any number that it is given."""
    made = factory(key)
    is_filled = made is not None and made.dtype in ("fill", "like")
    return is_filled or any(has_operands(one) or takes_number(one) for one in (key, f"torch.{key}"))


def _is_method_of_tensor(site: Site, call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and is_certainly_tensor(site, call.func.value)


def _stored(site: Site, end: End) -> Verdict:
    if isinstance(end.parent, (ast.Return, ast.Yield)):
        return Changes("the function's result is a Python number instead of a numpy scalar")
    return Changes(f"`{site.text(end.use)}` is kept as a Python number instead of a numpy scalar")
