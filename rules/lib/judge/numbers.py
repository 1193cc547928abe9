"""What Python computes with a number that was read, and what a 0-d tensor makes of it instead.

Python computes with doubles and unbounded integers, a tensor in its own dtype. For one sum,
difference, product or quotient of two float32 values that is the same once the result meets a
float32 tensor: rounding to double first is innocuous, because 53 bits are at least 2 * 24 + 2
(Figueroa, "When is double rounding innocuous?", 1995).
"""

from __future__ import annotations

import ast
import math
import struct
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Change
from tclint.records import record
from tclint.semantics.lattice import options, with_dtype
from tclint.semantics.site import Site
from tclint.semantics.values import DataScalar, DType, Static, SymInt, Tensor

from ..facts.known import certain_tensor, constant, is_boolean
from .promotion import ROUNDED
from .verdict import PROVED, Changes, Refused, Verdict

COUNTED: Final = 2**48
"""More elements than any tensor has."""
_WRAPS: Final = 2**62
ROUNDING: Final = "Python computes in double precision, a tensor in its own dtype"
_WRAPPING: Final = "integer tensors wrap around where Python integers grow"
_DIVISION: Final = "a division by zero gives inf or nan instead of ZeroDivisionError"
_INTEGER_RESULT: Final = (
    "the result of an integer tensor has the default dtype, not double precision"
)
_DEFAULT: Final = DType("default", "float")
_PLAIN: Final = (ast.Add, ast.Sub, ast.Mult)


@record(frozen=True)
class Number:
    """A number that was read, and ``tensor``, the 0-d tensor that takes its place.

    ``bound`` is the greatest absolute value that an integer has, None when that is not known.
    ``certain`` is false where it is another number on some paths.
    """

    tensor: Tensor
    bound: int | None = None
    certain: bool = True

    @property
    def category(self) -> str | None:
        """``"float"``, ``"int"``, ``"bool"``, ``"complex"``, or None when not known."""
        return self.tensor.dtype.category if self.tensor.dtype else None

    def of(self, dtype: DType | None, bound: int | None = None) -> Number:
        """The number that an operation makes of this one."""
        return Number(with_dtype(self.tensor, dtype), bound, self.certain)


def arithmetic(
    site: Site, op: ast.operator, number: Number, other: ast.expr, *, reflected: bool
) -> tuple[Number, Verdict]:
    """``number op other``, or ``other op number`` where ``reflected``; ``other`` is no tensor."""
    if not isinstance(op, (*_PLAIN, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)):
        return number, Refused("the operator does not take a 0-d tensor")
    if isinstance(op, (ast.Div, ast.FloorDiv, ast.Mod)) and (
        reflected or not constant(site, other)
    ):
        return number.of(_divided(number)), Changes(f"{_DIVISION}; {ROUNDING}")
    if number.category == "bool" and not isinstance(op, (ast.Add, ast.Mult)):
        return number, Refused("torch does not compute with booleans the way Python does")
    if number.category == "int":
        return _integers(site, op, number, other)
    if number.category == "float" and number.tensor.dtype is not None:
        return _floats(site, op, number, other, reflected=reflected)
    return number.of(None), Changes(ROUNDING, Change.PRECISION)


def negated(number: Number) -> tuple[Number, Verdict]:
    """``-number``, or ``abs(number)``."""
    if number.category == "float" or number.bound is not None:
        return number, PROVED
    if number.category == "bool":
        return number, Refused("torch does not compute with booleans the way Python does")
    return number.of(number.tensor.dtype), Changes(_WRAPPING)


def bound_of(site: Site, source: ast.expr) -> int | None:
    """How great a count or a position may be; None for all other numbers."""
    if not isinstance(source, ast.Call) or not isinstance(source.func, ast.Attribute):
        return None
    if any(keyword.arg == "dtype" for keyword in source.keywords):
        return None
    function = source.func.attr
    if function in ("argmax", "argmin", "count_nonzero"):
        return COUNTED
    of_torch = (site.dotted(source.func) or "").startswith("torch.")
    counted = source.args[0] if of_torch and source.args else source.func.value
    tensor = certain_tensor(site, counted)
    return COUNTED if function == "sum" and tensor is not None and is_boolean(tensor) else None


def is_python_number(site: Site, node: ast.expr) -> bool:
    """True for a number of Python's: a constant, a size, or one read from a tensor."""
    kinds = (Static, SymInt, DataScalar)
    return all(
        isinstance(v, kinds) and getattr(v, "type", None) not in ("str", "NoneType", "list")
        for v in options(site.value(node))
    )


def fits_float32(number: float) -> bool:
    """True when float32 holds the number exactly."""
    try:
        exact: bool = struct.unpack("f", struct.pack("f", number))[0] == number
    except OverflowError:
        return False
    return exact


def _floats(
    site: Site, op: ast.operator, number: Number, other: ast.expr, *, reflected: bool
) -> tuple[Number, Verdict]:
    dtype, value = number.tensor.dtype, constant(site, other)
    assert dtype is not None
    if isinstance(op, ast.Div) and (value is None or abs(math.frexp(value)[0]) != 0.5):
        return number, Changes(
            "on a GPU the last bit of a quotient may differ; " + ROUNDING, Change.PRECISION
        )
    if dtype.symbol == "float64" and isinstance(op, (*_PLAIN, ast.Div)):
        return number, PROVED
    square = isinstance(op, ast.Pow) and value == 2 and not reflected
    if dtype.symbol == "float32" and (square or isinstance(op, (*_PLAIN, ast.Div))):
        same = any(isinstance(v, DataScalar) and v.dtype == dtype for v in _only(site, other))
        if same or (value is not None and fits_float32(value)):
            return number.of(ROUNDED), PROVED
    return number, Changes(ROUNDING, Change.PRECISION)


def _integers(
    site: Site, op: ast.operator, number: Number, other: ast.expr
) -> tuple[Number, Verdict]:
    value = constant(site, other)
    types = {type(value).__name__} if value is not None else set(_types(site, other))
    if isinstance(op, (ast.Div, ast.Pow)) or types != {"int"}:
        known = isinstance(op, ast.Div) or types == {"float"}
        return number.of(_DEFAULT if known else None), Changes(_INTEGER_RESULT, Change.PRECISION)
    bound = _bound(op, number, COUNTED if value is None else abs(int(value)))
    sized = value is not None or all(isinstance(v, SymInt) for v in _only(site, other))
    if bound is None or bound > _WRAPS or not sized:
        return number.of(number.tensor.dtype), Changes(_WRAPPING)
    return number.of(number.tensor.dtype, bound), PROVED


def _types(site: Site, node: ast.expr) -> Iterator[str | None]:
    for value in options(site.value(node)):
        if isinstance(value, (Static, DataScalar)):
            yield value.type
        else:
            yield "int" if isinstance(value, SymInt) else None


def _bound(op: ast.operator, number: Number, other: int) -> int | None:
    if number.bound is None:
        return None
    return number.bound * other if isinstance(op, ast.Mult) else number.bound + other


def _divided(number: Number) -> DType | None:
    return _DEFAULT if number.category == "int" else number.tensor.dtype


def _only(site: Site, node: ast.expr) -> list[object]:
    found: list[object] = list(options(site.value(node)))
    return found if len(found) == 1 else []
