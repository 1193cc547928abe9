"""Does ``tensor op number`` have the same dtype and bits when the number stays a 0-d tensor?

A Python number never changes the dtype within its category (bool < int < float < complex). A 0-d
tensor behaves the same towards tensors that have dimensions, but takes part in promotion against
other 0-d tensors, and its own dtype decides where its category is the higher one.
"""

from __future__ import annotations

from typing import Final

from tclint.diagnostics import Change
from tclint.semantics.interpreter.operators import is_widened
from tclint.semantics.values import DType, Tensor

from .verdict import PROVED, Changes, Verdict

# What `float(t)` makes of an integer tensor: a float that widens nothing when it stays an integer.
FLOAT_OF_INTEGER: Final = DType("~float of integer", "float")
# What Python computed from float32 values: equal only when it is rounded to float32 as well.
ROUNDED: Final = DType("~rounded to float32", "float")
_ORDER = {"bool": 0, "int": 1, "float": 2, "complex": 3}
_WIDE = frozenset({"float32", "float64", "int64", "complex64", "complex128"})
_NARROW = frozenset({"float16", "bfloat16"})
_HALF: Final = "the number is rounded to 16 bits first, which float16 has up to 65,504"

_WIDENED: Final = (
    f"under autocast the number is float32: the result may take that dtype, or {_HALF}"
)


def promotion(operand: Tensor, read: Tensor, *, compares: bool = False) -> Verdict:
    """Judge an operation between ``operand`` and the number that was read from ``read``.

    One that ``compares`` finds the same in 16 bits, whatever the number is.
    """
    left, right = operand.dtype, read.dtype
    if left is None or right is None:
        return _unknown()
    if left.symbol == right.symbol:
        return PROVED
    if left.category is None or right.category is None:
        return _unknown()
    if right == ROUNDED:
        exact = _name(left) == "float32"
        return (
            PROVED if exact else Changes("the number is rounded to float32 first", Change.PRECISION)
        )
    if right == FLOAT_OF_INTEGER:
        if left.category not in ("float", "complex"):
            return Changes("without `float` the result may be an integer")
        return PROVED if compares else _integer_in(left)
    if is_widened(right) and not is_widened(left):
        return Changes(_WIDENED)
    difference = _ORDER[left.category] - _ORDER[right.category]
    if difference > 0:
        if right.category == "int":
            return PROVED if compares else _integer_in(left)
        return Changes(_HALF) if _name(left) in _NARROW and right.category != "bool" else PROVED
    if difference == 0 and _name(left) in _WIDE:
        if operand.rank is not None and operand.rank >= 1:
            return PROVED
        return Changes("the result takes the wider dtype if both tensors are 0-d")
    return Changes("the result may take the dtype of the tensor that was read")


def _integer_in(dtype: DType) -> Verdict:
    """Judge that a tensor of floats computes with an integer as with the tensor of it."""
    if _name(dtype) in _WIDE:
        return PROVED
    return Changes(_HALF if _name(dtype) in _NARROW else f"if the result has 16 bits, {_HALF}")


def _unknown() -> Verdict:
    return Changes(
        "the result's dtype may differ: the dtypes of the two tensors are not both known"
    )


def _name(dtype: DType) -> str:
    return dtype.symbol.removeprefix("torch.")
