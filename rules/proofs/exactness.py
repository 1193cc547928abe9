"""Does a comparison of a number read from a tensor stay the same as a comparison of tensors?"""

from __future__ import annotations

import ast
import math
import struct

from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Static, SymInt, Tensor

from .verdict import PROVED, Changes, Refused, Verdict

_HALF_MAX = 65504.0
_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def exact_comparison(site: Site, test: ast.Compare, read: ast.expr, tensor: Tensor) -> Verdict:
    """Judge `read == other` when the tensor takes the place of the number.

    Python compares in double precision, torch rounds the other side to the tensor's dtype first:
    the same, if the other side is a number that every dtype holds, or integers meet integers.
    """
    if len(test.ops) != 1 or not isinstance(test.ops[0], _COMPARISONS):
        return Refused("the number is compared in a way that tensors are not")
    other = test.comparators[0] if test.left is read else test.left
    category = tensor.dtype.category if tensor.dtype else None
    if category == "complex":
        return Refused("complex numbers are compared differently")
    constant = _constant(other)
    if constant is not None:
        if _fits_every_dtype(constant):
            return PROVED
        return Changes(f"`{site.text(other)}` is rounded to the tensor's dtype")
    if category == "int" and all(_is_integer(v) for v in options(site.value(other))):
        return PROVED
    if all(isinstance(v, (Static, SymInt)) for v in options(site.value(other))):
        return Changes(f"`{site.text(other)}` is rounded to the tensor's dtype")
    return Refused(f"`{site.text(other)}` is not known well enough to compare it on the device")


def _constant(node: ast.expr) -> float | None:
    negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    inner = node.operand if isinstance(node, ast.UnaryOp) and negative else node
    if not isinstance(inner, ast.Constant) or not isinstance(inner.value, (int, float)):
        return None
    return -float(inner.value) if negative else float(inner.value)


def _fits_every_dtype(number: float) -> bool:
    """True when float16 and bfloat16, and so all wider dtypes, hold the number exactly."""
    if abs(number) > _HALF_MAX or math.isnan(number):
        return False
    bits = struct.unpack(">I", struct.pack(">f", number))[0]
    half = struct.unpack("e", struct.pack("e", number))[0]
    single = struct.unpack(">f", struct.pack(">f", number))[0]
    exact: bool = half == number and single == number and bits & 0xFFFF == 0
    return exact


def _is_integer(value: object) -> bool:
    if isinstance(value, Static):
        return value.type in ("int", "bool")
    return isinstance(value, SymInt)
