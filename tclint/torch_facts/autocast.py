"""What autocast computes in float32 whatever it is given, so that 16 bits come out as 32."""

from __future__ import annotations

from typing import Final

WIDENED: Final[dict[str, frozenset[str]]] = {
    "cuda": frozenset(
        "LocalResponseNorm LogSoftmax Softmax Softmax2d Softmin Softplus acos arccos arcsin asin "
        "cosh cumulative_trapezoid erfinv exp expm1 get_total_norm gumbel_softmax log log10 log1p "
        "log2 log_softmax matrix_norm norm norm_except_dim normalize pdist pow prod reciprocal "
        "rsqrt sinh softmax softmin softplus square sum tan trapezoid trapz vector_norm".split()
    ),
    "cpu": frozenset(
        "AdaptiveAvgPool3d AdaptiveMaxPool3d AvgPool3d LocalResponseNorm MaxPool3d cholesky "
        "cholesky_inverse cond eigvalsh prod svdvals trace".split()
    ),
}
"""By the kind of device: last names of functions, methods and layers whose dtype is followed."""


def widens(device: str, key: str) -> bool:
    """Whether autocast on that kind of device has the call compute in float32."""
    return key.rpartition(".")[2] in WIDENED[device]
