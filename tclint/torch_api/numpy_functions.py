"""What numpy functions return when their arguments are Python numbers or arrays."""

from __future__ import annotations

from typing import Final

_ARRAYS = """
    arange array asarray ascontiguousarray atleast_1d atleast_2d atleast_3d broadcast_to
    concatenate copy cumprod cumsum diag diff empty empty_like eye fft flatnonzero flip
    frombuffer full full_like geomspace histogram identity indices isin linspace logspace
    loadtxt mgrid ones ones_like outer pad repeat reshape roll sort split squeeze stack
    searchsorted take tile transpose tri tril triu unique vstack hstack zeros zeros_like
    expand_dims swapaxes meshgrid where argsort nonzero argwhere random.rand random.randn
    random.permutation random.choice random.normal random.uniform random.randint
"""
ARRAYS: Final = frozenset(_ARRAYS.split())

# One number when given numbers, or when a whole array is reduced.
_SCALARS = """
    all amax amin any argmax argmin average count_nonzero dot linalg.det linalg.norm max
    mean median min nanmax nanmean nanmin nanstd nansum nanvar ndim percentile prod product
    ptp quantile size std sum trace var vdot bool_ float16 float32 float64 int8 int16 int32
    int64 uint8 uint16 uint32 uint64 intp double single half
"""
SCALARS: Final = frozenset(_SCALARS.split())

# Pointwise: an array for arrays, one number for numbers.
_POINTWISE = """
    abs absolute add arccos arcsin arctan arctan2 around cbrt ceil clip conj cos cosh
    deg2rad degrees divide equal exp exp2 expm1 fabs floor floor_divide fmod gcd greater
    greater_equal hypot imag isclose isfinite isinf isnan lcm less less_equal log log10
    log1p log2 logical_and logical_not logical_or maximum minimum mod multiply negative
    not_equal power rad2deg radians real reciprocal remainder rint round round_ sign sin
    sinh sqrt square subtract tan tanh true_divide trunc
"""
POINTWISE: Final = frozenset(_POINTWISE.split())

_MODULES = """
    fft linalg random ma testing polynomial
"""
MODULES: Final = frozenset(_MODULES.split())

_CONSTANTS = """
    pi e inf nan euler_gamma
"""
CONSTANTS: Final = frozenset(_CONSTANTS.split())


def numpy_returns(dotted: str) -> str | None:
    """``"array"``, ``"scalar"``, ``"pointwise"`` (as its arguments), ``"module"``, ``"float"``.

    ``"float"`` marks numpy's constants, which are Python floats. ``np.random.rand()`` and its
    kin give one number without a size; the table says what they give with one.
    """
    if dotted == "numpy":
        return "module"
    if not dotted.startswith("numpy."):
        return None
    name = dotted.removeprefix("numpy.")
    if name in CONSTANTS:
        return "float"
    for kind, names in (
        ("pointwise", POINTWISE),
        ("array", ARRAYS),
        ("scalar", SCALARS),
        ("module", MODULES),
    ):
        if name in names:
            return kind
    return None
