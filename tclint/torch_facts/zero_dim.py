"""Operations that give other bits for a tensor without dimensions than for its number.

Measured on an H100 and on a CPU, with numbers that the dtype holds, in float16, bfloat16, float32,
float64 and int64: ``python -m benchmarks.zero_dim --check`` does it again. All other operations
that the analysis knows give the same bits, dtypes and gradients.
"""

from __future__ import annotations

from typing import Final

_QUOTIENT: Final = "on a GPU torch multiplies by the reciprocal of a number, which rounds twice"
ROUNDED: Final[dict[str, str]] = {
    "div": _QUOTIENT,
    "rdiv": "`number / tensor` rounds twice, `tensor / tensor` once",
    "floor_divide": _QUOTIENT,
    "pow": "powers of special numbers (2, 0.5, -1) are computed by a different kernel",
    "rpow": "gradients of powers are computed by a different kernel",
}
"""By the operation; those with an ``r`` have the number on the left, as Python's methods do."""
_OTHER_NAMES: Final = {"divide": "div", "true_divide": "div"}


def rounded_with_tensor(operation: str) -> str | None:
    """Why last bits differ if a tensor takes the number's place; None where they do not."""
    return ROUNDED.get(_OTHER_NAMES.get(operation, operation))
