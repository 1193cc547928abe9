"""Reading JSON that somebody else wrote.

Python's own reader takes what is no JSON (``NaN``), numbers that are infinite or that no other
number can be computed with, and numbers of as many digits as it likes.
"""

from __future__ import annotations

import json
from typing import Any, Final

LARGEST: Final = 1e100
"""No number of a report, a recording or a baseline is larger; its square is finite."""
_MOST_DIGITS: Final = 100


def parse_json(text: str | bytes, *, numbers: bool = True) -> Any:
    """What a JSON text holds. Without ``numbers``, nobody looks at those, and they may be any.

    Raises:
        ValueError: it is no JSON, is nested too deeply, or has a number that nobody can mean.
    """
    try:
        if numbers:
            return json.loads(text, parse_int=_whole, parse_float=_finite, parse_constant=_constant)
        return json.loads(text, parse_int=float)
    except RecursionError as error:
        raise ValueError("too deeply nested") from error


def _whole(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"a number has {len(text):,} digits")
    return int(text)


def _finite(text: str) -> float:
    value = float(text) if len(text) <= _MOST_DIGITS else LARGEST
    if not -LARGEST < value < LARGEST:
        raise ValueError(f"{text[:20]} is too large a number")
    return value


def _constant(name: str) -> float:
    raise ValueError(f"{name} is no number")
