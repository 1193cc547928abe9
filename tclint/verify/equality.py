"""Compare two frozen results: bit for bit first, within a stated tolerance else (child only)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from tclint.verify.events import Equality
from tclint.verify.snapshot import Nest, Opaque, Plain, Raised, Snapshot, TensorLeaf

# Relative to the largest magnitude of the expected tensor. Inductor fuses, reorders sums and keeps
# half-precision intermediates in float32, so compiled numbers are close, not equal.
TOLERANCES = {
    torch.float64: 1e-9,
    torch.complex128: 1e-9,
    torch.float32: 1e-4,
    torch.complex64: 1e-4,
    torch.float16: 1e-2,
    torch.bfloat16: 5e-2,
}
_DEFAULT_TOLERANCE = 1e-4
# Against a run in float64, compiled code may err this many times as much as eager code does, or
# as much as this many roundings of the tensor's type: eager is exact by luck where little is added.
ERROR_FACTOR = 3.0
_FREE_ROUNDINGS = 8.0
# Mixed precision errs by this much of the largest value while it computes the same thing.
_PLAUSIBLE = 0.1
# A value that is this small in float64, set against the expected run's, which is small among its
# kind, stands for zero: the gradient of a bias before a normalisation, say. What it comes out as is
# nothing but rounding.
_NOISE = 0.01
NOISE_FACTOR = 100.0
_FOLLOWED = (torch.float16, torch.bfloat16, torch.float32, torch.complex64)


@dataclass(slots=True)
class _Findings:
    differences: list[str] = field(default_factory=list)
    opaque: list[str] = field(default_factory=list)
    compared: int = 0
    max_abs: float = 0.0
    max_rel: float = 0.0
    tolerance: float = 0.0
    basis: str = "largest"
    exact: bool = True
    stated: float | None = None
    top: float = 0.0


def compare(
    expected: Mapping[str, Snapshot],
    actual: Mapping[str, Snapshot],
    truth: Mapping[str, Snapshot] | None = None,
    tolerance: float | None = None,
) -> Equality:
    """Compare two runs: what each call gave, and whatever else has a name.

    ``truth`` is a run in float64 to measure errors against; a ``tolerance`` stated by the target,
    relative to the largest value of a tensor, comes before it.
    """
    found = _Findings(stated=tolerance)
    if expected.keys() != actual.keys():
        found.differences.append(f"{', '.join(expected)}, then {', '.join(actual)}")
    for name in (name for name in expected if name in actual):
        found.top = _top(expected[name]) if truth else 0.0
        _compare(expected[name], actual[name], (truth or {}).get(name), name, found)
    return _verdict(found)


def unknown(reason: str) -> Equality:
    """The answer where two runs cannot be compared."""
    return Equality("unknown", reason)


def _verdict(found: _Findings) -> Equality:
    numbers = (found.max_abs, found.max_rel, found.tolerance, found.basis)
    if found.differences:
        return Equality("different", found.differences[0], *numbers)
    if found.opaque and not found.compared:
        return Equality("unknown", f"only objects came back: {found.opaque[0]}")
    detail = f"not compared: {', '.join(found.opaque[:3])}" if found.opaque else ""
    return Equality("identical" if found.exact else "close", detail, *numbers)


def _compare(
    expected: Snapshot, actual: Snapshot, truth: Snapshot | None, path: str, found: _Findings
) -> None:
    match expected, actual:
        case TensorLeaf(), TensorLeaf():
            _compare_tensors(expected, actual, truth, path, found)
        case Plain(one), Plain(other):
            _compare_plain(one, other, path, found)
        case Raised(), Raised():
            found.compared += 1
            if expected != actual:
                found.differences.append(f"{path}: {_text(expected)}, then {_text(actual)}")
        case Nest(), Nest():
            _compare_nests(expected, actual, truth, path, found)
        case Opaque(one), Opaque(other) if one == other:
            found.opaque.append(f"{path} ({one})")
        case _:
            found.differences.append(f"{path}: {_text(expected)}, then {_text(actual)}")


def _compare_nests(
    expected: Nest, actual: Nest, truth: Snapshot | None, path: str, found: _Findings
) -> None:
    keys, other_keys = [k for k, _ in expected.parts], [k for k, _ in actual.parts]
    if expected.kind != actual.kind or keys != other_keys:
        found.differences.append(f"{path}: {_text(expected)}, then {_text(actual)}")
        return
    if not keys:
        found.compared += 1
    true = dict(truth.parts) if isinstance(truth, Nest) else {}
    for (key, one), (_, other) in zip(expected.parts, actual.parts, strict=True):
        _compare(one, other, true.get(key), f"{path}[{key!r}]", found)


def _compare_plain(expected: object, actual: object, path: str, found: _Findings) -> None:
    found.compared += 1
    if type(expected) is not type(actual):
        found.differences.append(f"{path}: {expected!r}, then {actual!r}")
        return
    if expected == actual or (expected != expected and actual != actual):  # noqa: PLR0124 - NaN
        return
    if isinstance(expected, float) and isinstance(actual, float):
        one, other = (torch.tensor(v, dtype=torch.float32) for v in (expected, actual))
        _compare_values(one, other, None, path, found)
        return
    found.differences.append(f"{path}: {expected!r}, then {actual!r}")


def _compare_tensors(
    expected: TensorLeaf, actual: TensorLeaf, truth: Snapshot | None, path: str, found: _Findings
) -> None:
    found.compared += 1
    for what, one, other in _properties(expected, actual):
        if one != other:
            found.differences.append(f"{path}: {what} {one}, then {other}")
            return
    true = truth.values if isinstance(truth, TensorLeaf) else None
    _compare_values(expected.values, actual.values, true, path, found)


def _properties(one: TensorLeaf, other: TensorLeaf) -> Iterator[tuple[str, object, object]]:
    yield "shape", tuple(one.values.shape), tuple(other.values.shape)
    yield "dtype", one.values.dtype, other.values.dtype
    yield "device", one.device, other.device
    yield "requires_grad", one.requires_grad, other.requires_grad


def _compare_values(
    expected: torch.Tensor,
    actual: torch.Tensor,
    truth: torch.Tensor | None,
    path: str,
    found: _Findings,
) -> None:
    if expected.numel() == 0 or _same_bits(expected, actual):
        return
    if not (expected.is_floating_point() or expected.is_complex()):
        found.differences.append(f"{path}: {_integers(expected, actual)}")
        return
    found.exact = False
    wide = torch.complex128 if expected.is_complex() else torch.float64
    one, other = expected.to(wide), actual.to(wide)
    finite = torch.isfinite(expected)
    # Weights come by the hundred million: a mask is only made use of where it says something.
    whole = bool(finite.all())
    at: Any = ... if whole else finite
    if not torch.equal(finite, torch.isfinite(actual)) or not (
        whole or _same_bits(one[~finite], other[~finite])
    ):
        found.differences.append(f"{path}: NaN or infinity in other places")
        return
    one, other = one[at], other[at]
    error, scale = _largest(one - other), _largest(one)
    relative = error / scale if scale else (float("inf") if error else 0.0)
    found.max_abs, found.max_rel = max(found.max_abs, error), max(found.max_rel, relative)
    true = truth.to(wide) if _usable(truth, expected, found) and truth is not None else None
    tolerance = found.stated or TOLERANCES.get(expected.dtype, _DEFAULT_TOLERANCE)
    if true is not None and torch.equal(torch.isfinite(true), finite):
        true = true[at]
        noise = _largest(true) < _NOISE * scale and scale < tolerance * found.top
        # What is far from the expected run is the truth about something else, such as another draw
        # of random numbers; except where the truth is zero, and both runs hold rounding errors.
        if noise or _largest(one - true) <= _PLAUSIBLE * scale:
            factor = NOISE_FACTOR if noise else ERROR_FACTOR
            _against_truth(one, other, true, expected.dtype, factor, path, found)
            return
    if found.basis == "largest":
        found.tolerance = max(found.tolerance, tolerance)
    if relative > tolerance:
        found.differences.append(
            f"{path}: off by {error:.3g} ({relative:.3g} of the largest value; "
            f"tolerance {tolerance:g})"
        )


def _usable(truth: torch.Tensor | None, expected: torch.Tensor, found: _Findings) -> bool:
    return (
        truth is not None
        and found.stated is None
        and expected.dtype in _FOLLOWED
        and truth.shape == expected.shape
        and truth.dtype in {torch.float64, torch.complex128}
    )


def _against_truth(
    one: torch.Tensor,
    other: torch.Tensor,
    true: torch.Tensor,
    dtype: torch.dtype,
    factor: float,
    path: str,
    found: _Findings,
) -> None:
    found.basis, found.tolerance = "float64", ERROR_FACTOR
    own, error = _rms(one - true), _rms(other - true)
    rounding = _FREE_ROUNDINGS * torch.finfo(dtype).eps * _rms(true)
    if error > max(factor * own, rounding):
        times = f"{error / own:.3g} times" if own else "unlike"
        found.differences.append(
            f"{path}: off by {error:.3g} from float64, {times} the expected run's own {own:.3g} "
            f"(allowed: {factor:g} times)"
        )


def _largest(values: torch.Tensor) -> float:
    return float(torch.linalg.vector_norm(values, torch.inf)) if values.numel() else 0.0


def _top(value: Snapshot) -> float:
    """The largest magnitude in all of a nested value."""
    match value:
        case TensorLeaf(values) if values.is_floating_point():
            return _largest(values)
        case Nest(_, parts):
            return max((_top(part) for _, part in parts), default=0.0)
    return 0.0


def _rms(values: torch.Tensor) -> float:
    return float(torch.linalg.vector_norm(values)) / math.sqrt(max(values.numel(), 1))


def _same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    # -0.0 and 0.0 count as the same; so do NaNs, whatever their payload.
    if torch.equal(one, other):
        return True
    if (one.is_floating_point() or one.is_complex()) and bool(one.isnan().any()):
        return bool(((one == other) | ((one != one) & (other != other))).all())  # noqa: PLR0124
    return False


def _integers(expected: torch.Tensor, actual: torch.Tensor) -> str:
    wrong = int((expected != actual).sum())
    return f"{wrong} of {expected.numel()} {expected.dtype} values differ"


def _text(value: Snapshot) -> str:
    match value:
        case TensorLeaf(values):
            return f"a tensor {tuple(values.shape)} of {values.dtype}"
        case Plain(plain):
            return repr(plain)
        case Raised(kind, message):
            return f"{kind}: {message.splitlines()[0] if message else ''}"
        case Nest(kind, parts):
            return f"{kind} with {len(parts)} parts"
        case Opaque(kind):
            return kind
