"""Does a comparison of a number read from a tensor stay the same as a comparison of tensors?"""

from __future__ import annotations

import ast
import math
import struct

from tclint.diagnostics import Change
from tclint.semantics.lattice import all_are, is_number
from tclint.semantics.site import Site
from tclint.semantics.values import Static, SymInt, Tensor

from .promotion import FLOAT_OF_INTEGER
from .verdict import PROVED, Changes, Refused, Verdict

COMPLEX = Changes("comparing complex numbers raises an error of a different type")
_HALF_MAX = 65504.0
_SMALLEST = (0, 127)
"""What every dtype of integers holds."""
_RANGES = {
    "bool": (-(2**63), 2**63 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "int32": (-(2**31), 2**31 - 1),
}
_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def exact_comparison(site: Site, test: ast.Compare, read: ast.expr, tensor: Tensor) -> Verdict:
    """Judge `read == other` when the tensor takes the place of the number.

    Python compares in double precision, torch brings the other side into the tensor's dtype first:
    a float is rounded, an integer wraps around (``torch.tensor(2, dtype=torch.uint8) < 256`` is
    False). The same, if the other side is a number that the dtype holds.
    """
    if len(test.ops) != 1 or not isinstance(test.ops[0], _COMPARISONS):
        return Refused("the number is compared with `in`, `is` or in a chain")
    other = test.comparators[0] if test.left is read else test.left
    category = tensor.dtype.category if tensor.dtype else None
    if tensor.dtype == FLOAT_OF_INTEGER:
        category = "int"
    if category == "complex":
        return Refused("torch compares complex numbers differently")
    constant = _constant(other)
    if constant is not None:
        if category != "float" and isinstance(constant, int) and not _holds(tensor, constant):
            return Changes(f"`{site.text(other)}` may not fit the tensor's dtype")
        if _fits_every_dtype(constant):
            return PROVED
        return Changes(f"`{site.text(other)}` is rounded to the tensor's dtype", Change.PRECISION)
    wide = tensor.dtype is not None and tensor.dtype.symbol == "int64"
    if wide and is_number(site.value(other), "int", "bool"):
        return PROVED
    if all_are(site.value(other), Static, SymInt):
        return Changes(f"`{site.text(other)}` is rounded to the tensor's dtype", Change.PRECISION)
    return Refused(
        f"the type of `{site.text(other)}` is not known well enough to compare it on the device"
    )


def _holds(tensor: Tensor, number: int) -> bool:
    """True when the tensor's dtype of integers holds a number; a boolean becomes one of int64."""
    dtype = tensor.dtype.symbol if tensor.dtype else ""
    low, high = _RANGES.get(dtype, _SMALLEST)
    return low <= number <= high


def _constant(node: ast.expr) -> float | None:
    negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    inner = node.operand if isinstance(node, ast.UnaryOp) and negative else node
    if not isinstance(inner, ast.Constant) or not isinstance(inner.value, (int, float)):
        return None
    return -inner.value if negative else inner.value


def _fits_every_dtype(number: float) -> bool:
    """True when float16 and bfloat16, and so all wider dtypes, hold the number exactly."""
    if abs(number) > _HALF_MAX or math.isnan(number):
        return False
    bits = struct.unpack(">I", struct.pack(">f", number))[0]
    half = struct.unpack("e", struct.pack("e", number))[0]
    single = struct.unpack(">f", struct.pack(">f", number))[0]
    exact: bool = half == number and single == number and bits & 0xFFFF == 0
    return exact
