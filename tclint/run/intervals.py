"""Numbers with what they may be off by: 95% intervals that need no shape of the distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from tclint.records import record

_Z = 1.96


@record(frozen=True)
class Interval:
    """A value with the ends of its 95% interval, all in one unit."""

    value: float
    low: float
    high: float

    def __mul__(self, factor: float) -> Interval:
        """All three times a factor that is not negative."""
        return Interval(self.value * factor, self.low * factor, self.high * factor)

    def __add__(self, other: Interval) -> Interval:
        """The sum; the ends are as far off as both can be."""
        return Interval(self.value + other.value, self.low + other.low, self.high + other.high)

    def at_most(self, bound: float) -> Interval:
        """The same, where none of the three can be more."""
        return Interval(*(min(one, bound) for one in (self.value, self.low, self.high)))


NOTHING = Interval(0.0, 0.0, 0.0)


def of_median(values: Sequence[float]) -> Interval:
    """The median, and the order statistics between which it lies in 95% of samples."""
    ordered = sorted(values)
    count = len(ordered)
    if count == 0:
        return NOTHING
    reach = _Z * math.sqrt(count) / 2
    low = max(0, math.floor(count / 2 - reach))
    high = min(count - 1, math.ceil(count / 2 + reach))
    return Interval(median(ordered), ordered[low], ordered[high])


def of_share(part: float, whole: float, looks: float | None = None) -> Interval:
    """What share of all that is, from a sample of it: Wilson's interval.

    ``looks`` is how many samples ``whole`` stands for, where they do not count alike.
    """
    looks = whole if looks is None else looks
    if whole <= 0 or looks <= 0:
        return NOTHING
    share, unit = min(1.0, part / whole), _Z * _Z / looks
    middle = (share + unit / 2) / (1 + unit)
    reach = _Z / (1 + unit) * math.sqrt(share * (1 - share) / looks + unit / (4 * looks))
    return Interval(share, max(0.0, middle - reach), min(1.0, middle + reach))
