"""How far a change alters what a run computes, by its losses: one scale from best to worst.

Same bits; rounding: no further off than where one bit of the weights leads; precision: digits are
lost, and the run goes the same way; behaviour: it goes another way.
"""

from __future__ import annotations

from collections.abc import Sequence

from tclint.diagnostics import Change

SCALE = tuple(change.value.replace("-", " ") for change in Change)
"""The classes of fixes, as a report says them."""
SAME, ROUNDING, PRECISION, BEHAVIOUR = SCALE
_ULPS = 64
"""So many units in the last place a sum of many numbers is off by, in another order."""
_WIDER = 8
"""So many times as far as one bit leads another rounding may lead."""
_ROUNDED, _PRECISE = 1e-4, 1e-2
"""By how much, at most, the first losses differ for a class, where nobody changed a bit to see."""
_FIRST = 5
_BITS = (7, 10, 23, 52)
"""The bits behind the point of bfloat16, float16, float32 and float64."""
_FRACTION = 13
_TINY = 1e-30


def change_of(before: Sequence[str], after: Sequence[str], nudged: Sequence[str] = ()) -> str:
    """The class of a change by the losses of the same steps, as ``float.hex()``.

    ``nudged`` are those of the unchanged code whose weights had one bit changed after a step.
    """
    if list(before) == list(after):
        return SAME
    pairs = list(zip(before, after, strict=False))
    numbers = [(float.fromhex(one), float.fromhex(other)) for one, other in pairs]
    if _agrees(numbers, [*map(float.fromhex, nudged)], 2.0 ** -_bits(before)):
        return ROUNDING
    # Where nobody knows how far rounding leads, what comes later is how a difference grows.
    compared = numbers if nudged else numbers[:_FIRST]
    if not nudged and _all_below(_ROUNDED, compared):
        return ROUNDING
    return PRECISION if _all_below(_PRECISE, compared) else BEHAVIOUR


def _all_below(most: float, numbers: Sequence[tuple[float, float]]) -> bool:
    """Whether all pairs differ by a smaller share than that; none does that is no number."""
    apart = (abs(a - b) / max(abs(a), abs(b), _TINY) for a, b in numbers)
    return bool(numbers) and all(one < most for one in apart)


def _agrees(numbers: Sequence[tuple[float, float]], nudged: Sequence[float], unit: float) -> bool:
    """Whether no loss is further off than one bit leads, nor than sums are in another order."""
    if len(nudged) < len(numbers) or not numbers:
        return False
    reach = 0.0
    for (before, after), other in zip(numbers, nudged, strict=False):
        reach = max(reach, abs(other - before))
        if not abs(after - before) <= _WIDER * reach + _ULPS * unit * abs(before):
            return False
    return True


def _bits(losses: Sequence[str]) -> int:
    """The bits behind the point that the type of these numbers has."""
    used = max((_used(loss) for loss in losses), default=0)
    return next(bits for bits in _BITS if used <= bits)


def _used(loss: str) -> int:
    digits = loss.partition(".")[2].partition("p")[0].ljust(_FRACTION, "0")[:_FRACTION]
    value = int(digits or "0", 16) if digits.strip("0123456789abcdef") == "" else 0
    return 0 if value == 0 else 4 * _FRACTION - ((value & -value).bit_length() - 1)
