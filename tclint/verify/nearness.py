"""Judge one tensor against another: the same bits, near enough, or off (child only)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

import torch

from tclint.records import record

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
# Where about half of a tensor's values go astray, it is chance on which side of a half they are.
_ABOVE_HALF = 0.625
_RANKED = 64
# Single numbers differ in how much they err.
_NUMBER_FACTOR = 10.0
_MOST_OF_A_NUMBER = TOLERANCES[torch.bfloat16]
_FOLLOWED = (torch.float16, torch.bfloat16, torch.float32, torch.complex64)


@record()
class Errors:
    """What the tensors of one snapshot err by against float64, together.

    ``own`` and ``other`` are sums of squares; ``wild``: a run ends up far away from its own code in
    float64. ``changed``: the expected run is of other code, which may not be further away either.
    """

    own: float = 0.0
    other: float = 0.0
    wild: bool = False
    changed: bool = False
    beyond: list[str] = field(default_factory=list)
    whole: list[str] = field(default_factory=list)

    @property
    def unexcused(self) -> list[str]:
        """The tensors that err too much, unless a run goes astray from its own code as often.

        An adaptive optimizer divides a gradient by its own size: one that is nothing but rounding
        moves its weight by the whole learning rate, this way or that. Which weights those are is
        chance. How far all of them are off together is not, nor is ``whole``: the tensors of which
        most values are off.
        """
        most = ERROR_FACTOR**2
        alike = self.other <= most * self.own and (
            not self.changed or self.own <= most * self.other
        )
        return self.whole if self.wild and alike else self.beyond


@record(frozen=True)
class Number:
    """A single number, and what both runs err by, relative to it.

    ``step``: what its neighbour is off by, where both runs give a number of half precision.
    """

    path: str
    own: float
    other: float
    step: float


@record()
class Findings:
    """What a comparison has come to so far.

    ``changed``: float64 is the truth about the actual run's code alone.
    ``stated`` is the target's own tolerance, ``top`` the largest magnitude in the snapshot at hand,
    which ``part`` names. ``moved`` is what changed nothing but its device, and may.
    """

    differences: list[str] = field(default_factory=list)
    opaque: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    part: str = ""
    compared: int = 0
    max_abs: float = 0.0
    max_rel: float = 0.0
    tolerance: float = 0.0
    basis: str = "largest"
    exact: bool = True
    stated: float | None = None
    top: float = 0.0
    same_draws: bool = False
    changed: bool = False
    errors: Errors = field(default_factory=Errors)
    numbers: list[Number] = field(default_factory=list)


def compare_values(
    expected: torch.Tensor,
    actual: torch.Tensor,
    truth: torch.Tensor | None,
    path: str,
    found: Findings,
) -> None:
    """Judge the values of two tensors of one shape and type; ``truth`` has them in float64."""
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
    error, scale = largest(one - other), largest(one)
    relative = error / scale if scale else (float("inf") if error else 0.0)
    found.max_abs, found.max_rel = max(found.max_abs, error), max(found.max_rel, relative)
    true = truth.to(wide) if _usable(truth, expected, found) and truth is not None else None
    tolerance = found.stated or TOLERANCES.get(expected.dtype, _DEFAULT_TOLERANCE)
    if true is not None and torch.equal(torch.isfinite(true), finite):
        true = true[at]
        noise = largest(true) < _NOISE * scale and scale < tolerance * found.top
        # What is far from the expected run is the truth about something else, such as another draw
        # of random numbers; except where the truth is zero, and both runs hold rounding errors.
        if found.same_draws and true.numel() == 1 and not noise:
            size = max(scale, largest(other), largest(true))
            own, error = (largest(end - true) / size for end in (one, other))
            found.numbers.append(Number(path, own, error, _step(one, other)))
            return
        wild = not noise and largest(one - true) > _PLAUSIBLE * scale
        if found.same_draws or not wild:
            # Other code that is far away may be wrong: its float64 is that of the actual run.
            astray = not found.changed or largest(other - true) > _PLAUSIBLE * scale
            found.errors.wild |= wild and astray
            factor, before = NOISE_FACTOR if noise else ERROR_FACTOR, len(found.errors.beyond)
            _against_truth(one, other, true, expected.dtype, factor, path, found)
            if found.changed and not noise and relative > tolerance:
                _against_other_code(one, other, true, path, found)
            off = len(found.errors.beyond) > before and not (wild and astray)
            if found.same_draws and not noise and (off or true.numel() >= _RANKED):
                _by_rank(one, other, true, path, found)
            return
    if found.basis == "largest":
        found.tolerance = max(found.tolerance, tolerance)
    if relative > tolerance:
        found.differences.append(
            f"{path}: off by {error:.3g} ({relative:.3g} of the largest value; "
            f"tolerance {tolerance:g})"
        )


def _usable(truth: torch.Tensor | None, expected: torch.Tensor, found: Findings) -> bool:
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
    found: Findings,
) -> None:
    found.basis, found.tolerance = "float64", ERROR_FACTOR
    own, error = _rms(one - true), _rms(other - true)
    found.errors.own += own**2 * true.numel()
    found.errors.other += error**2 * true.numel()
    free = _FREE_ROUNDINGS * torch.finfo(dtype).eps
    if true.numel() == 1:
        # One number's own error is chance, zero as likely as any: no measure of what is allowed.
        free = max(free, TOLERANCES.get(dtype, _DEFAULT_TOLERANCE))
    if error > max(factor * own, free * _rms(true)):
        times = f"{error / own:.3g} times" if own else "unlike"
        found.errors.beyond.append(
            f"{path}: off by {error:.3g} from float64, {times} the expected run's own {own:.3g} "
            f"(allowed: {factor:g} times)"
        )


def _against_other_code(
    one: torch.Tensor, other: torch.Tensor, true: torch.Tensor, path: str, found: Findings
) -> None:
    """A run that is much further from other code in float64 than that code is: another result."""
    own, error = _rms(one - true), _rms(other - true)
    if own > ERROR_FACTOR * error:
        found.errors.beyond.append(
            f"{path}: the expected run is off by {own:.3g} from the changed code in float64, which "
            f"itself errs by {error:.3g} (allowed: {ERROR_FACTOR:g} times)"
        )


def _by_rank(
    one: torch.Tensor, other: torch.Tensor, true: torch.Tensor, path: str, found: Findings
) -> None:
    """What goes astray is some values, this way or that; the rest of them are as near as ever."""
    free = _FREE_ROUNDINGS * torch.finfo(torch.float32).eps * _rms(true)
    pairs = [(one - true, other - true)]
    pairs += [(other - true, one - true)] if found.changed else []
    for own, errors in pairs:
        allowed, half = ERROR_FACTOR * _at_rank(own, _ABOVE_HALF), _at_rank(errors, 0.5)
        if half > max(allowed, free):
            found.errors.whole.append(
                f"{path}: half of the values are off by {half:.3g} or more from float64 "
                f"(allowed: {allowed:.3g})"
            )


def _at_rank(values: torch.Tensor, share: float) -> float:
    """The magnitude that this share of the values does not exceed."""
    sizes = values.abs().reshape(-1)
    return float(sizes.kthvalue(math.ceil(share * sizes.numel())).values)


def _step(one: torch.Tensor, other: torch.Tensor) -> float:
    """The relative step of the half precision that both numbers have; 0 where one has another.

    A whole number may be a count.
    """
    both = torch.stack([one.reshape(()), other.reshape(())])
    if both.is_complex() or torch.equal(both, both.round()):
        return 0.0
    kinds = (torch.float16, torch.bfloat16)
    steps = [torch.finfo(kind).eps for kind in kinds if torch.equal(both.to(kind).to(both), both)]
    return max(steps, default=0.0)


def numbers_off(numbers: Sequence[Number], *, changed: bool) -> Iterator[str]:
    """Which single numbers err more than those of this run do.

    What one of them errs by is chance, zero as likely as any; what all of them err by is less so.
    """
    least = TOLERANCES[torch.float32]
    for number in numbers:
        pairs = [(number.other, number.own, [one.own for one in numbers])]
        pairs += [(number.own, number.other, [one.other for one in numbers])] if changed else []
        for error, own, all_own in pairs:
            usual = _NUMBER_FACTOR * math.hypot(*all_own) / math.sqrt(len(all_own))
            usual = min(usual, _MOST_OF_A_NUMBER)
            allowed = max(ERROR_FACTOR * own, usual, number.step, least)
            if error > allowed:
                yield (
                    f"{number.path}: off by {error:.3g} of itself from float64 "
                    f"(allowed: {allowed:.3g})"
                )


def largest(values: torch.Tensor) -> float:
    """The largest magnitude; 0 where there is none."""
    return float(torch.linalg.vector_norm(values, torch.inf)) if values.numel() else 0.0


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
