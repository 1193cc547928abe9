"""What numpy functions return when their arguments are Python numbers or arrays.

Kept by hand: numpy is not installed wherever torch is. ``tests/test_torch_facts_kept_by_hand.py``
calls them.
"""

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
_REDUCTIONS = """
    all amax amin any argmax argmin average count_nonzero dot linalg.det linalg.norm max
    mean median min nanmax nanmean nanmin nanstd nansum nanvar ndim percentile prod product
    ptp quantile size std sum trace var vdot
"""
REDUCTIONS: Final = frozenset(_REDUCTIONS.split())
_CONVERSIONS = """
    bool_ float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 intp double
    single half
"""
SCALARS: Final = REDUCTIONS | frozenset(_CONVERSIONS.split())

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

# What type of number a function gives; others give what they are given.
_INTEGERS = """
    argmax argmin count_nonzero gcd int8 int16 int32 int64 intp lcm ndim size uint8 uint16 uint32
    uint64
"""
_FLOATS = """
    arccos arcsin arctan arctan2 average cbrt cos cosh deg2rad degrees divide double exp exp2 expm1
    fabs float16 float32 float64 half hypot linalg.det linalg.norm log log10 log1p log2 mean median
    nanmean nanstd nanvar percentile quantile rad2deg radians reciprocal rint single sin sinh sqrt
    std tan tanh true_divide var
"""
_BOOLEANS = """
    all any bool_ equal greater greater_equal isclose isfinite isinf isnan less less_equal
    logical_and logical_not logical_or not_equal
"""
_TYPES: Final = {
    name: kind
    for kind, names in (("int", _INTEGERS), ("float", _FLOATS), ("bool", _BOOLEANS))
    for name in names.split()
}

_MODULES = """
    fft linalg random ma testing polynomial
"""
MODULES: Final = frozenset(_MODULES.split())

_CONSTANTS = """
    pi e inf nan euler_gamma
"""
CONSTANTS: Final = frozenset(_CONSTANTS.split())


def numpy_number_type(name: str) -> str | None:
    """``"int"``, ``"float"``, ``"bool"``: the number that a function gives, whatever is given.

    ``name`` is without ``numpy.``; a method of an array gives what the function gives.
    """
    return _TYPES.get(name)


def numpy_reduces(name: str) -> bool:
    """Whether a function (without ``numpy.``) makes one number of several."""
    return name in REDUCTIONS


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
