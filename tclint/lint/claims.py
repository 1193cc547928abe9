"""What examples claim, and of which releases of torch: ``GB0059 < 2.14``, ``recompile``."""

from __future__ import annotations

from typing import Final

from tclint.regexes import regex
from tclint.torch_bounds import NEWEST_TORCH, Version
from tclint.torch_facts.lifetimes import Lifetime, version_of

_BOUNDS: Final = regex(r"(?:>= (\d+\.\d+))?\s*(?:< (\d+\.\d+))?")
_EVER: Final = (0, 0)


def releases(text: str) -> Lifetime | None:
    """The releases of ``>= 2.13``, ``< 2.15`` or ``>= 2.13 < 2.15``; None where it is none of them.

    All of them where it is empty.
    """
    found = _BOUNDS.fullmatch(text.strip())
    if found is None:
        return None
    first, last = found.groups()
    return Lifetime(version_of(first) if first else _EVER, version_of(last) if last else None)


def split(claim: str) -> tuple[str, Lifetime | None]:
    """What is claimed, and of which releases; None where they cannot be understood."""
    what, _, bounds = claim.partition(" ")
    return what, releases(bounds)


def newest_of(text: str) -> Version:
    """The newest release that an example is about."""
    bounds = releases(text)
    if bounds is None or bounds.until is None or bounds.until > NEWEST_TORCH:
        return NEWEST_TORCH
    return bounds.until[0], bounds.until[1] - 1
