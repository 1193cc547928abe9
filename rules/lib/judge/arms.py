"""Ways of a branch that may both be computed: shape, dtype, exceptions and gradients stay."""

from __future__ import annotations

import ast
import math

from tclint.semantics.lattice import may_be_tensor, options
from tclint.semantics.site import Site
from tclint.semantics.values import Static, SymInt
from tclint.torch_facts.memory import gradient, only_computes
from tclint.torch_facts.operations import keeps_floats
from tclint.torch_facts.pointwise import is_pointwise
from tclint.torch_facts.table import canonical

from ..facts.known import constant
from .verdict import PROVED, Changes, Refused, Verdict, combine

# Their gradient is finite, and 0 where nothing comes back, for whatever number goes in.
_BOUNDED = frozenset("clamp clip clamp_min clamp_max".split())
_KEEPING_NOTHING = frozenset("all any argmax argmin count_nonzero mean sum where".split())
_SMALL_LIMITS = frozenset("eps tiny smallest_normal resolution".split())
_HALF_MAX = 65504.0
_FLOAT_MAX = 3.4028234663852886e38
_INTEGERS = 2**63
_STEEP_FACTOR = (
    "a factor outside the range of float32 makes the gradient NaN even where this branch is "
    "not chosen"
)

Numbers = dict[str, ast.expr]


def keeps(site: Site, node: ast.expr, name: str, *, asked: bool = False) -> bool:
    """True where autograd keeps the tensor ``name`` itself for the gradient of ``node``.

    ``asked``: it is kept if it is ``node``.
    """
    match node:
        case ast.Compare():
            return False
        case ast.Name() | ast.Attribute():
            return asked and ast.unparse(node) == name
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return keeps(site, operand, name)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return keeps(site, left, name) or keeps(site, right, name)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=right):
            scaled = not may_be_tensor(site.value(right))
            kept = keeps(site, left, name, asked=not scaled)
            return kept or keeps(site, right, name, asked=True)
        case ast.Call(func=ast.Attribute(value=owner, attr=called), args=given):
            kept = called not in _KEEPING_NOTHING and "keeps-argument" in _gradient(node)
            return any(keeps(site, one, name, asked=kept) for one in (owner, *given))
    return any(isinstance(part, ast.expr) and ast.unparse(part) == name for part in ast.walk(node))


def judge_arm(site: Site, node: ast.expr, root: str, numbers: Numbers) -> Verdict:
    """Judge ``node`` as a computation on the floating-point tensor ``root`` and numbers alone.

    ``numbers`` are local variables that were just given a number. Where the other way is chosen, 0
    comes back through the gradient; times a factor that is not finite it is NaN.
    """
    match node:
        case ast.Name(id=name) if name == root:
            return PROVED
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return judge_arm(site, operand, root, numbers)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as op, right=right):
            tensor, number = (right, left) if _is_number_first(left, root) else (left, right)
            verdict = judge_number(site, number, root, numbers)
            if verdict == PROVED and isinstance(op, ast.Mult):
                verdict = _factor(_constant(site, number, numbers))
            return combine([judge_arm(site, tensor, root, numbers), verdict])
        case ast.BinOp(left=left, op=ast.Div(), right=ast.Constant(value=int() | float() as value)):
            if not value:
                return Refused("it divides by zero")
            factors = [_factor(value), _factor(1 / value)]
            return combine([judge_arm(site, left, root, numbers), *factors])
        case ast.Call(func=ast.Attribute()):
            return _call(site, node, root, numbers)
    return Refused(f"`{site.text(node)}` may raise, or change the shape or dtype of `{root}`")


def is_kept_result(node: ast.expr) -> bool:
    """True where autograd keeps the very tensor that ``node`` gives."""
    return isinstance(node, ast.Call) and "keeps-result" in _gradient(node)


def _gradient(call: ast.Call) -> frozenset[str]:
    """What autograd does for it; it keeps the argument of what nobody knows."""
    name = getattr(call.func, "attr", "")
    told = (gradient(prefix + name) for prefix in ("torch.", "torch.nn.functional."))
    return next((one for one in told if one is not None), frozenset({"keeps-argument"}))


def _is_of_one(key: str) -> bool:
    """True for what computes each element from one of a tensor, in its dtype, and never raises."""
    return is_pointwise(key, "t") and only_computes(key) and keeps_floats(key)


def _factor(value: float | None) -> Verdict:
    """Judge a constant that the gradient is multiplied by; the limits of its dtype are finite."""
    return PROVED if value is None or abs(value) <= _FLOAT_MAX else Changes(_STEEP_FACTOR)


def root_of(site: Site, *arms: ast.expr) -> str:
    """The only tensor variable that ways compute with, or an empty string."""
    parts = [part for arm in arms for part in ast.walk(arm)]
    names = {n.id for n in parts if isinstance(n, ast.Name) and may_be_tensor(site.value(n))}
    return names.pop() if len(names) == 1 else ""


def _is_number_first(left: ast.expr, root: str) -> bool:
    return not any(isinstance(n, ast.Name) and n.id == root for n in ast.walk(left))


def _call(site: Site, call: ast.Call, root: str, numbers: Numbers) -> Verdict:
    assert isinstance(call.func, ast.Attribute)
    name, dotted = call.func.attr, canonical(site.dotted(call.func) or "")
    owner, rest, is_function = call.func.value, call.args, dotted.startswith("torch.")
    if is_function:
        if not call.args:
            return Refused(
                f"`{site.text(call)}` passes its arguments in a way that tclint does not follow"
            )
        owner, rest = call.args[0], call.args[1:]
    given = [*rest, *(keyword.value for keyword in call.keywords)]
    known = name in _BOUNDED if given else _is_of_one(dotted if is_function else name)
    if not known:
        return Refused(f"`{site.text(call)}` may raise, or change the shape or dtype of `{root}`")
    if any(keyword.arg not in ("min", "max") for keyword in call.keywords):
        return Refused(
            f"`{site.text(call)}` passes its arguments in a way that tclint does not follow"
        )
    verdicts = [judge_arm(site, owner, root, numbers)]
    verdicts += [_bound(site, number, root, numbers) for number in given]
    if not given and "finite" not in _gradient(call):
        what = f"the gradient of `{name}` may be NaN even where this branch is not chosen"
        verdicts.append(Changes(what))
    return combine(verdicts)


def _bound(site: Site, node: ast.expr, root: str, numbers: Numbers) -> Verdict:
    """A bound outside of the dtype raises."""
    known = judge_number(site, node, root, numbers)
    value = _constant(site, node, numbers)
    if isinstance(known, Refused) or (value is None and known == PROVED):
        return known
    if value is None or abs(value) > _HALF_MAX:
        return Changes(f"the fix assumes that `{site.text(node)}` always fits the dtype")
    return PROVED


def judge_number(site: Site, node: ast.expr, root: str, numbers: Numbers) -> Verdict:
    """Judge a Python number: evaluating it, and computing with it, must not raise.

    Where it is proved and no constant, it is a number that the dtype of ``root`` holds.
    """
    value = _constant(site, node, numbers)
    if value is not None:
        fits = abs(value) < _INTEGERS if isinstance(value, int) else math.isfinite(value)
        return PROVED if fits else Refused(f"`{site.text(node)}` is out of range")
    if _is_limit(site, node, root, numbers):
        return PROVED
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return judge_number(site, operand, root, numbers)
        case ast.Name(id=name) if name in numbers:
            return judge_number(site, numbers[name], root, _without(numbers, name))
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            sides = [judge_number(site, side, root, numbers) for side in (left, right)]
            unsure = Changes(
                f"the fix assumes that `{site.text(node)}` is finite even where it is not used"
            )
            return combine([*sides, unsure])
    kinds = [*options(site.value(node))]
    plain = isinstance(node, (ast.Name, ast.Attribute)) and all(
        isinstance(kind, SymInt) or (isinstance(kind, Static) and kind.type in ("int", "float"))
        for kind in kinds
    )
    if not plain:
        return Refused(f"`{site.text(node)}` is not known to be a number")
    return Changes(
        f"the fix assumes that `{site.text(node)}` is a finite number even where it is not used"
    )


def _without(numbers: Numbers, name: str) -> Numbers:
    return {other: value for other, value in numbers.items() if other != name}


def _constant(site: Site, node: ast.expr, numbers: Numbers) -> int | float | None:
    """The number that the program writes out; what an attribute holds may be set by anybody."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _constant(site, operand, numbers)
            return None if inner is None else -inner
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as op, right=right):
            one, two = (_constant(site, side, numbers) for side in (left, right))
            return None if one is None or two is None else _computed(op, one, two)
        case ast.Name(id=name) if name in numbers:
            return _constant(site, numbers[name], _without(numbers, name))
        case ast.Name():
            return constant(site, node)
    return None


def _computed(op: ast.operator, one: float, two: float) -> float:
    try:
        if isinstance(op, ast.Mult):
            return one * two
        return one + two if isinstance(op, ast.Add) else one - two
    except OverflowError:  # of an integer that no float holds
        return math.inf


def _is_limit(site: Site, node: ast.expr, root: str, numbers: Numbers) -> bool:
    """True for a number that the dtype of ``root`` holds: ``torch.finfo(root.dtype).max - 1000``.

    Even half precision holds its greatest number, less up to twice as much.
    """
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_limit(site, operand, root, numbers)
        case ast.Name(id=name) if name in numbers:
            return _is_limit(site, numbers[name], root, _without(numbers, name))
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=ast.Constant() as number):
            inwards = "min" if isinstance(op, ast.Add) else "max"
            return _limit_of(site, left, root) == inwards and _is_step(number.value)
    return bool(_limit_of(site, node, root))


def _limit_of(site: Site, node: ast.expr, root: str) -> str:
    """``max`` for ``torch.finfo(root.dtype).max``; empty for all that is no limit."""
    match node:
        case ast.Attribute(
            value=ast.Call(
                func=function, args=[ast.Attribute(value=ast.Name(id=name), attr="dtype")]
            ),
            attr=attr,
        ) if name == root and attr in {"max", "min", *_SMALL_LIMITS}:
            return attr if site.dotted(function) == "torch.finfo" else ""
    return ""


def _is_step(value: object) -> bool:
    return isinstance(value, (int, float)) and 0 <= value <= 2 * _HALF_MAX
