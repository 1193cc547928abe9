"""Which arguments of torch's functions take a 0-d tensor as well as a number?"""

from __future__ import annotations

import ast

from tclint.semantics.site import Site
from tclint.semantics.values import Function, Tensor

from ..facts.known import certain_tensor, is_boolean
from ..facts.parameters import number_parameter_of, parameter_of, takes_tensor
from .promotion import FLOAT_OF_INTEGER, ROUNDED, promotion
from .verdict import PROVED, Changes, Refused, Verdict, combine

# name: the parameters after the tensor itself that take a 0-d tensor, by position and by name.
_BINARY = ("other",)
_TAKES_TENSOR: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        "add sub subtract mul multiply div divide true_divide floor_divide remainder "
        "eq ne lt le gt ge greater less less_equal greater_equal not_equal".split(),
        _BINARY,
    ),
    "clamp": ("min", "max"),
    "clip": ("min", "max"),
    "clamp_min": ("min",),
    "clamp_max": ("max",),
    "fill": ("value",),
    "masked_fill": ("mask", "value"),
    "where": ("condition", "input", "other"),
}

_KEEPS = frozenset("add append appendleft extend insert put setdefault update".split())
_ORDERED = frozenset("clamp clip clamp_min clamp_max".split())
_UNORDERED = Changes(
    "a boolean tensor is clamped instead of raising, a complex one raises a different error"
)
_NAN_BOUND = Changes("a NaN bound may clamp differently, depending on torch and the processor")


def judge_argument(site: Site, use: ast.expr, read: Tensor) -> Verdict:
    """Judge a number that is an argument of a call."""
    keyword = site.parent(use)
    call = site.parent(keyword) if isinstance(keyword, ast.keyword) else keyword
    assert isinstance(call, ast.Call)
    name = keyword.arg if isinstance(keyword, ast.keyword) else None
    dotted = site.dotted(call.func) or ""
    if dotted.startswith("torch."):
        function = dotted.rpartition(".")[2]
        return _torch(site, call, use, name, read, (function, call.args[:1], call.args[1:]))
    if isinstance(call.func, ast.Attribute) and isinstance(site.value(call.func.value), Tensor):
        parts = (call.func.attr, [call.func.value], call.args)
        return _torch(site, call, use, name, read, parts)
    called = site.value(call.func)
    if isinstance(called, Function):
        declared = number_parameter_of(called.info, call, use)
        if declared:
            return Refused(f"`{site.text(call.func)}` declares `{declared}` as a Python number")
        parameter = parameter_of(called.info, call, use)
        if not parameter or not takes_tensor(called.info.node, parameter):
            return Refused(f"`{site.text(call.func)}` may need a Python number")
        return Changes(f"`{site.text(call.func)}` is given a tensor instead of a Python number")
    if isinstance(call.func, ast.Attribute) and call.func.attr in _KEEPS:
        return Refused(
            f"`{site.text(call.func)}` keeps the number for code that tclint does not follow"
        )
    return Refused(f"`{site.text(call.func)}` needs a Python number")


def _torch(
    site: Site,
    call: ast.Call,
    use: ast.expr,
    keyword: str | None,
    read: Tensor,
    parts: tuple[str, list[ast.expr], list[ast.expr]],
) -> Verdict:
    function, owner, rest = parts
    name = function.removesuffix("_")
    known = _TAKES_TENSOR.get(name, ())
    if name == "where":
        return _where(site, call, use, read)
    position = next((i for i, argument in enumerate(rest) if argument is use), None)
    if name == "full":
        return _fill(call, use, read)
    parameter = keyword or (
        known[position] if position is not None and position < len(known) else None
    )
    if parameter is None or parameter not in known or parameter == "mask":
        what = f"`{parameter}=`" if parameter else "this argument"
        return Refused(f"{what} of `{site.text(call.func)}` is not known to take a tensor")
    if name in ("clamp", "clip") and len(call.keywords) + len(rest) > 1:
        return Refused("`clamp` with two bounds takes either two numbers or two tensors")
    if name in ("sub", "subtract") and is_boolean(read):
        return Refused("torch does not subtract boolean tensors")
    tensor = certain_tensor(site, owner[0]) if owner else None
    if tensor is None:
        return Refused(f"`{site.text(call.func)}` is not known to be called with a tensor")
    return combine([promotion(tensor, read), _ordered(name, tensor)])


def _ordered(name: str, tensor: Tensor) -> Verdict:
    """Clamping compares, which some numbers and dtypes take badly."""
    category = tensor.dtype.category if tensor.dtype else None
    if name not in _ORDERED or category == "int":
        return PROVED
    return _NAN_BOUND if category == "float" else _UNORDERED


def _fill(call: ast.Call, use: ast.expr, read: Tensor) -> Verdict:
    """``torch.full(size, number)`` chooses the dtype by the number's category, as by a tensor's."""
    filled = call.args[1:2] == [use] or any(k.value is use for k in call.keywords)
    exact = read.dtype is not None and read.dtype not in (FLOAT_OF_INTEGER, ROUNDED)
    if not filled or not exact:
        return Refused("`torch.full` needs the exact number")
    return PROVED


def _where(site: Site, call: ast.Call, use: ast.expr, read: Tensor) -> Verdict:
    """``torch.where(condition, a, b)``: the other arm must be a tensor."""
    if not isinstance(call.func, ast.Attribute) or not (site.dotted(call.func) or ""):
        return Refused("tclint does not follow the method `Tensor.where`")
    others = [a for a in call.args[1:] if a is not use]
    tensor = certain_tensor(site, others[0]) if len(call.args) == 3 and len(others) == 1 else None
    if tensor is None:
        return Refused("both arms of `torch.where` are Python numbers")
    return promotion(tensor, read)
