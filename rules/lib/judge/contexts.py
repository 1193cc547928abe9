"""What happens to one use of a number if a 0-d tensor takes its place?"""

from __future__ import annotations

import ast

from tclint.diagnostics import Change
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Function, Static, SymInt, Tensor
from tclint.torch_facts.zero_dim import rounded_with_tensor

from ..facts.annotations import is_number_type
from ..facts.known import certain_tensor, is_boolean
from ..facts.parameters import number_parameter_of, parameter_of, takes_tensor
from ..facts.texts import enclosing_text, is_handed_out
from .promotion import FLOAT_OF_INTEGER, ROUNDED, promotion
from .verdict import PROVED, Changes, Refused, Verdict, combine

_TYPE = "holds a tensor instead of a Python number"
_NOT_FOLLOWED = "that tclint does not follow"
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Div: "div",
    ast.FloorDiv: "floor_divide",
    ast.Pow: "pow",
    ast.Sub: "sub",
}
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
_NEGATIVE_POWER = Changes("an integer to a negative power, or one out of range, may raise or not")
_OTHER_DTYPE = Changes("on a GPU, a tensor of another dtype cannot be stored through a mask")
_NO_BOOLEANS = {
    "sub": "torch does not subtract boolean tensors",
    "subtract": "torch does not subtract boolean tensors",
    "pow": "torch has no gradient of a power with a boolean tensor",
}
_PLACES = (Static, SymInt)
_NAN_BOUND = Changes("a NaN bound may clamp differently, depending on torch and the processor")


def judge(site: Site, use: ast.expr, read: Tensor) -> Verdict:
    """Judge the place of ``use``, whose number was read from ``read``."""
    parent = site.parent(use)
    if isinstance(parent, ast.BinOp):
        return _arithmetic(site, parent, use, read)
    if isinstance(parent, ast.Compare):
        return _comparison(site, parent, use, read)
    if isinstance(parent, ast.AugAssign):
        return _augmented(site, parent, read)
    call = site.parent(parent) if isinstance(parent, ast.keyword) else parent
    if isinstance(call, ast.Call):
        return _judge_argument(site, use, read)
    if isinstance(parent, ast.Assign):
        return _stored(site, parent.targets, read)
    if isinstance(parent, ast.FormattedValue):
        return _formatted(site, parent, read)
    if isinstance(parent, ast.Return):
        return _returned(site)
    if isinstance(parent, (ast.Dict, ast.List, ast.Tuple, ast.Set)):
        return _container(site, parent, use)
    return Refused(_refusal(parent))


def _arithmetic(site: Site, node: ast.BinOp, use: ast.expr, read: Tensor) -> Verdict:
    other = node.right if node.left is use else node.left
    tensor = certain_tensor(site, other)
    if tensor is None:
        return _python_number(site, other)
    if isinstance(node.op, (ast.MatMult, ast.LShift, ast.RShift)):
        return Refused("the operator does not take a 0-d tensor")
    return _operator(node.op, tensor, read, reflected=node.left is use)


def _python_number(site: Site, other: ast.expr) -> Verdict:
    if any(isinstance(v, Tensor) for v in options(site.value(other))):
        return Refused(f"`{site.text(other)}` is not always a tensor")
    return Refused(f"`{site.text(other)}` is not known to be a tensor or a number")


def _operator(
    operator: ast.operator, tensor: Tensor, read: Tensor, *, reflected: bool = False
) -> Verdict:
    name = _OPERATORS.get(type(operator), "")
    if name in _NO_BOOLEANS and is_boolean(read):
        return Refused(_NO_BOOLEANS[name])
    verdicts = [promotion(tensor, read), _rounding(f"r{name}" if reflected else name)]
    if isinstance(operator, ast.Pow) and not _are_floats(tensor, read):
        verdicts.append(_NEGATIVE_POWER)
    return combine(verdicts)


def _are_floats(*tensors: Tensor) -> bool:
    return all(one.dtype is not None and one.dtype.category == "float" for one in tensors)


def _rounding(operation: str) -> Verdict:
    """Judge that an operation gives the same bits for a number and for a tensor of it."""
    why = rounded_with_tensor(operation)
    return PROVED if why is None else Changes(why, Change.ROUNDING)


def _comparison(site: Site, node: ast.Compare, use: ast.expr, read: Tensor) -> Verdict:
    plain = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    if len(node.ops) != 1 or not isinstance(node.ops[0], plain):
        return Refused("the number is compared with `in`, `is` or in a chain")
    other = node.comparators[0] if node.left is use else node.left
    tensor = certain_tensor(site, other)
    if tensor is None:
        return _python_number(site, other)
    return promotion(tensor, read, compares=True)


def _augmented(site: Site, node: ast.AugAssign, read: Tensor) -> Verdict:
    target = certain_tensor(site, node.target)
    if target is None:
        return _python_number(site, node.target)
    return _operator(node.op, target, read)


def _stored(site: Site, targets: list[ast.expr], read: Tensor) -> Verdict:
    target = targets[0]
    if len(targets) == 1 and isinstance(target, ast.Subscript):
        tensor = certain_tensor(site, target.value)
        if tensor is not None:
            return combine([promotion(tensor, read), _stored_at(site, target, tensor, read)])
    names = ", ".join(f"`{site.text(t)}`" for t in targets)
    return Changes(f"{names} {_TYPE}")


def _stored_at(site: Site, target: ast.Subscript, tensor: Tensor, read: Tensor) -> Verdict:
    """Through a mask or positions, a GPU stores only tensors of the same dtype."""
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    plain = all(
        isinstance(one, ast.Slice) or all(isinstance(v, _PLACES) for v in options(site.value(one)))
        for one in parts
    )
    return PROVED if plain or tensor.dtype == read.dtype else _OTHER_DTYPE


def _formatted(site: Site, field: ast.FormattedValue, read: Tensor) -> Verdict:
    """``f"{t:.2f}"`` writes a 0-d tensor like its number, and is made after the graph has run."""
    text = enclosing_text(site, field)
    exact = read.rank == 0 and read.dtype not in (FLOAT_OF_INTEGER, ROUNDED)
    if text is None or field.conversion != -1 or not exact or _is_for_integers(field, read):
        return Refused("the number is formatted as a string")
    if not is_handed_out(site, text):
        return Refused("the number is formatted into a string that the code uses later")
    return PROVED


def _is_for_integers(field: ast.FormattedValue, read: Tensor) -> bool:
    """True for a format such as ``04d``, which raises for a float."""
    last = [*ast.walk(field.format_spec)][-1] if field.format_spec is not None else None
    code = last.value[-1:] if isinstance(last, ast.Constant) and isinstance(last.value, str) else ""
    whole = read.dtype is not None and read.dtype.category in ("int", "bool")
    return code in tuple("bcdnoxX") and not whole


def _returned(site: Site) -> Verdict:
    """What compiled code gives, its caller computes with; others may need a Python number."""
    function, region = site.function, site.region
    entries = {"forward", region.root.rpartition(".")[2] if region is not None else ""}
    if function is None or function.name not in entries:
        return Refused("the number is returned to callers, which may need a Python number")
    annotation = getattr(function.node, "returns", None)
    if annotation is not None and is_number_type(annotation):
        return Refused(f"`{function.name}` is declared to return a Python number")
    return Changes(f"the function's result {_TYPE}")


def _container(site: Site, node: ast.expr, use: ast.expr) -> Verdict:
    if isinstance(node, ast.Set) or (isinstance(node, ast.Dict) and use in node.keys):
        return Refused(
            "the number is a dict key or a set member, and tensors are hashed by identity"
        )
    if isinstance(site.parent(node), ast.Subscript):
        return Refused("the number is used as an index or in a slice")
    if isinstance(site.parent(node), (ast.Call, ast.keyword)):
        return Refused("the number is used where a tensor may not work")
    outer = site.parent(node)
    while isinstance(outer, (ast.Dict, ast.List, ast.Tuple)):
        outer = site.parent(outer)
    if isinstance(outer, ast.Return):
        return _returned(site)
    return Refused(f"the {type(node).__name__.lower()} keeps the number for code {_NOT_FOLLOWED}")


def _refusal(parent: ast.AST | None) -> str:
    if isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.BoolOp)):
        return "the number is used as a condition"
    if isinstance(parent, ast.UnaryOp):
        return "Python computes with the number before it meets a tensor"
    if isinstance(parent, (ast.Subscript, ast.Slice)):
        return "the number is used as an index or in a slice"
    return "the number is used where a tensor may not work"


def _judge_argument(site: Site, use: ast.expr, read: Tensor) -> Verdict:
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
        return Refused(f"`{site.text(call.func)}` keeps the number for code {_NOT_FOLLOWED}")
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
    if name in _NO_BOOLEANS and is_boolean(read):
        return Refused(_NO_BOOLEANS[name])
    tensor = certain_tensor(site, owner[0]) if owner else None
    if tensor is None:
        return Refused(f"`{site.text(call.func)}` is not known to be called with a tensor")
    return combine([promotion(tensor, read), _ordered(name, tensor), _rounding(name)])


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
