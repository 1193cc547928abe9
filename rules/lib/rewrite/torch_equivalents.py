"""Functions of Python's on a number that was read, and what does the same on the device."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Final

from tclint.lint.rewrite import Replace
from tclint.records import record
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import DType, External

from ..facts.known import constant
from ..judge.numbers import Number, fits_float32, is_python_number, negated
from ..judge.promotion import FLOAT_OF_INTEGER, ROUNDED
from ..judge.verdict import PROVED, Changes, Refused, Verdict

IN_TORCH: Final = frozenset(
    "sqrt exp expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh "
    "atanh erf erfc lgamma".split()
)
ERRORS: Final = "`math` raises ValueError or OverflowError where torch gives nan or inf"
ROUNDING: Final = "it is computed in the tensor's dtype instead of double precision"
CUT: Final = (
    "`int` raises for nan and inf and gives an integer; `trunc` keeps nan, inf and the dtype"
)
_NAN: Final = "`clamp` may give NaN where Python's function gives the other number"
_SMALLEST: Final = 127
"""What every dtype of integers holds."""
_INT64: Final = DType("int64", "int")
_COMPLEX: Final = "without `float` a complex number raises no TypeError"
_FLOAT32: Final = DType("float32", "float")
_FLOAT64: Final = DType("float64", "float")
_METHODS: Final = {"max": "clamp(min=$other)", "min": "clamp(max=$other)"}
UNSURE: Final = Refused("the number is not read from a tensor on all paths")
_MAKE: Final = frozenset(
    "argmax argmin argsort bincount bucketize ceil floor round searchsorted trunc".split()
)
_KEEP: Final = frozenset(
    "abs amax amin clone cpu cuda detach item max min reshape squeeze sum view".split()
)


@record(frozen=True)
class TorchEquivalent:
    """A call that becomes an operation on the device: the number that it makes, and how sure."""

    number: Number
    verdict: Verdict
    replace: Replace | None = None


def torch_equivalent(
    site: Site, call: ast.Call, use: ast.expr, number: Number
) -> TorchEquivalent | None:
    """What a call of Python's makes of the number; None for functions that are not known."""
    if call.keywords or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    dotted = site.dotted(call.func) or ""
    if dotted.startswith("math.") and len(call.args) == 1:
        return _settle(_math(site, call, number, dotted.removeprefix("math.")), number)
    name = _builtin(site, call)
    if name in _METHODS and len(call.args) == 2:
        return _settle(_extreme(site, call, use, number, name), number)
    if len(call.args) != 1:
        return None
    match name:
        case "abs":
            return TorchEquivalent(*negated(number))
        case "float":
            return _settle(_float(call, number), number)
        case "int":
            return _settle(_int(call, number), number)
        case "round":
            return _settle(_round(call, number), number)
    return None


def _settle(equivalent: TorchEquivalent | None, number: Number) -> TorchEquivalent | None:
    """No call is replaced that meets other numbers as well."""
    if equivalent is None or equivalent.replace is None or number.certain:
        return equivalent
    return TorchEquivalent(equivalent.number, UNSURE)


def _math(site: Site, call: ast.Call, number: Number, name: str) -> TorchEquivalent | None:
    spelled = site.spell(f"torch.{name}")
    if name not in IN_TORCH or spelled is None:
        return None
    made = number.of(DType("default", "float")) if number.category != "float" else number
    replaced = _instead(call, f"{spelled}($number)", call.args[0])
    return TorchEquivalent(made, Changes(f"{ERRORS}; {ROUNDING}"), replaced)


def _instead(call: ast.Call, template: str, use: ast.expr, **parts: ast.expr) -> Replace:
    return Replace(call, template, {"number": use, **parts})


def _builtin(site: Site, call: ast.Call) -> str:
    found = list(options(site.value(call.func)))
    known = found[0] if len(found) == 1 else None
    name = known.name if isinstance(known, External) else ""
    return name.removeprefix("builtins.") if name.startswith("builtins.") else ""


def _extreme(
    site: Site, call: ast.Call, use: ast.expr, number: Number, name: str
) -> TorchEquivalent | None:
    """``max(n, 1)`` is ``n.clamp(min=1)``, but for NaN and for the sign of zero."""
    other = call.args[1] if call.args[0] is use else call.args[0]
    if not is_python_number(site, other):
        return None
    value = constant(site, other)
    replaced = _instead(call, f"$number.{_METHODS[name]}", use, other=other)
    if number.category == "int" and isinstance(value, int):
        wide = number.bound is not None or number.tensor.dtype == _INT64
        if not wide and not 0 <= value <= _SMALLEST:
            return TorchEquivalent(number, Refused(f"`{value}` may not fit the tensor's dtype"))
        bound = None if number.bound is None else max(number.bound, abs(value))
        return TorchEquivalent(replace(number, bound=bound), PROVED, replaced)
    known = number.tensor.dtype in (_FLOAT32, _FLOAT64, ROUNDED)
    if not known or value is None:
        return TorchEquivalent(
            number.of(None), Changes("the result takes the tensor's dtype"), replaced
        )
    fits = number.tensor.dtype == _FLOAT64 or fits_float32(value)
    sure = value != 0 and call.args[0] is use
    made = number if fits else number.of(ROUNDED)
    return TorchEquivalent(made, PROVED if sure else Changes(_NAN), replaced)


def _float(call: ast.Call, number: Number) -> TorchEquivalent | None:
    if number.category == "bool":
        return None
    dropped = _instead(call, "$number", call.args[0])
    if number.category == "float":
        return TorchEquivalent(
            number, Changes(_COMPLEX) if _may_be_complex(number) else PROVED, dropped
        )
    if number.category == "int":
        return TorchEquivalent(number.of(FLOAT_OF_INTEGER), PROVED, dropped)
    what = "without `float` the result may be an integer"
    return TorchEquivalent(number.of(None), Changes(what), dropped)


def _may_be_complex(number: Number) -> bool:
    """True for what ``exp`` and the like make of a tensor of unknown elements."""
    dtype = number.tensor.dtype
    return dtype is None or "~float(~" in dtype.symbol


def _int(call: ast.Call, number: Number) -> TorchEquivalent | None:
    if number.category == "int":
        return TorchEquivalent(number, PROVED, _instead(call, "$number", call.args[0]))
    if number.category == "bool":
        return None
    template = "$number" if is_whole(call.args[0]) else "$number.trunc()"
    return TorchEquivalent(number, Changes(CUT), _instead(call, template, call.args[0]))


def is_whole(node: ast.expr) -> bool:
    """True where ``int`` has nothing to cut off: ``x.round()``, ``torch.bincount(x)[0].item()``."""
    match node:
        case ast.Subscript(value=inner):
            return is_whole(inner)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in _MAKE:
            return True
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _KEEP:
            return is_whole(inner)
    return False


def _round(call: ast.Call, number: Number) -> TorchEquivalent:
    if number.category == "int":
        return TorchEquivalent(number, PROVED, _instead(call, "$number", call.args[0]))
    rounded = _instead(call, "$number.round()", call.args[0])
    return TorchEquivalent(
        number, Changes(CUT.replace("int", "round").replace("trunc", "round")), rounded
    )
