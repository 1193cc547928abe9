"""Ways of a branch that may both be computed: shape, dtype, exceptions and gradients stay."""

from __future__ import annotations

import ast
import math

from tclint.semantics.lattice import may_be_tensor, options
from tclint.semantics.site import Site
from tclint.semantics.values import Static, SymInt

from ..proofs.verdict import PROVED, Changes, Refused, Verdict, combine

# Their gradient is finite, and 0 where nothing comes back, for whatever number goes in.
_PLAIN = frozenset("relu neg negative clamp clip clamp_min clamp_max".split())
_STEEP = frozenset(
    "abs exp expm1 log log2 log10 log1p sqrt rsqrt square reciprocal sin cos tan tanh sigmoid erf "
    "silu gelu nan_to_num".split()
)
_BOUNDED = frozenset("clamp clip clamp_min clamp_max".split())
_FUNCTIONS = ("torch.", "torch.nn.functional.")
_LIMITS = frozenset("max min eps tiny smallest_normal resolution".split())
_HALF_MAX = 65504.0

Numbers = dict[str, ast.expr]


def judge_arm(site: Site, node: ast.expr, root: str, numbers: Numbers) -> Verdict:
    """Judge ``node`` as a computation on the floating-point tensor ``root`` and numbers alone.

    ``numbers`` are local variables that were just given a number.
    """
    match node:
        case ast.Name(id=name) if name == root:
            return PROVED
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return judge_arm(site, operand, root, numbers)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            tensor, number = (right, left) if _is_number_first(left, root) else (left, right)
            verdict = judge_number(site, number, numbers)
            return combine([judge_arm(site, tensor, root, numbers), verdict])
        case ast.BinOp(left=left, op=ast.Div(), right=ast.Constant(value=int() | float() as value)):
            if not value or not math.isfinite(1 / value):
                return Refused("it divides by zero")
            return judge_arm(site, left, root, numbers)
        case ast.Call(func=ast.Attribute()):
            return _call(site, node, root, numbers)
    return Refused(f"`{site.text(node)}` may raise, or change the shape or dtype of `{root}`")


def root_of(site: Site, *arms: ast.expr) -> str:
    """The only tensor variable that ways compute with, or an empty string."""
    parts = [part for arm in arms for part in ast.walk(arm)]
    names = {n.id for n in parts if isinstance(n, ast.Name) and may_be_tensor(site.value(n))}
    return names.pop() if len(names) == 1 else ""


def _is_number_first(left: ast.expr, root: str) -> bool:
    return not any(isinstance(n, ast.Name) and n.id == root for n in ast.walk(left))


def _call(site: Site, call: ast.Call, root: str, numbers: Numbers) -> Verdict:
    assert isinstance(call.func, ast.Attribute)
    name, dotted = call.func.attr, site.dotted(call.func) or ""
    owner, rest = call.func.value, call.args
    if dotted in {prefix + name for prefix in _FUNCTIONS}:
        if not call.args:
            return Refused(f"`{site.text(call)}` is called in an unusual way")
        owner, rest = call.args[0], call.args[1:]
    given = [*rest, *(keyword.value for keyword in call.keywords)]
    if name not in _PLAIN | _STEEP or bool(given) != (name in _BOUNDED):
        return Refused(f"`{site.text(call)}` may raise, or change the shape or dtype of `{root}`")
    if any(keyword.arg not in ("min", "max") for keyword in call.keywords):
        return Refused(f"`{site.text(call)}` is called in an unusual way")
    verdicts = [judge_arm(site, owner, root, numbers)]
    verdicts += [_bound(site, number, numbers) for number in given]
    if name in _STEEP:
        what = f"NaN may come back through the gradient of `{name}` also where it is not chosen"
        verdicts.append(Changes(what))
    return combine(verdicts)


def _bound(site: Site, node: ast.expr, numbers: Numbers) -> Verdict:
    """A bound outside of the dtype raises."""
    plain = node.operand if isinstance(node, ast.UnaryOp) else node
    plain = numbers.get(plain.id, plain) if isinstance(plain, ast.Name) else plain
    if isinstance(plain, ast.Constant) and isinstance(plain.value, (int, float)):
        fits = abs(plain.value) <= _HALF_MAX
        return PROVED if fits else Changes(f"`{site.text(node)}` has to fit the dtype always")
    known = judge_number(site, node, numbers)
    limit = any(isinstance(n, ast.Attribute) and n.attr in _LIMITS for n in ast.walk(plain))
    if known == PROVED and not limit:
        return Changes(f"`{site.text(node)}` has to fit the dtype always")
    return known


def judge_number(site: Site, node: ast.expr, numbers: Numbers) -> Verdict:
    """Judge a Python number: evaluating it must not raise."""
    match node:
        case ast.Constant(value=int() | float() as value) if math.isfinite(value):
            return PROVED
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return judge_number(site, operand, numbers)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            return combine([judge_number(site, left, numbers), judge_number(site, right, numbers)])
        case ast.Name(id=name) if name in numbers:
            others = {other: value for other, value in numbers.items() if other != name}
            return judge_number(site, numbers[name], others)
        case ast.Attribute(value=ast.Call(func=function, args=[dtype]), attr=attr):
            limits = attr in _LIMITS and site.dotted(function) == "torch.finfo"
            if limits and isinstance(dtype, ast.Attribute) and dtype.attr == "dtype":
                return PROVED
    kinds = [*options(site.value(node))]
    plain = isinstance(node, (ast.Name, ast.Attribute)) and all(
        isinstance(kind, SymInt) or (isinstance(kind, Static) and kind.type in ("int", "float"))
        for kind in kinds
    )
    return PROVED if plain else Refused(f"`{site.text(node)}` is not certainly a number")
