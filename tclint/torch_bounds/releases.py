"""Releases of torch by major and minor number, and which of them a requirement allows."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packaging.specifiers import SpecifierSet

Version = tuple[int, int]

NEWEST_TORCH: Final = (2, 15)
UNSTATED_TORCH: Final = (2, 1)
"""The oldest release that fixes are for where nothing says which a project is for."""
COMPILING_TORCH: Final = (2, 0)
"""The first release with ``torch.compile``."""
_LAST_OF: Final = {0: 4, 1: 13, 2: NEWEST_TORCH[1]}
KNOWN: Final = tuple(
    (major, minor) for major, last in _LAST_OF.items() for minor in range(last + 1)
)
"""All releases that there have been, the oldest first."""
MOST_DIGITS: Final = 20
"""Digits of one number of a version; a date with its time has 14."""
_PATCHES: Final = range(10)
_FAR: Final = ("0.0", "9999")


class BoundsError(Exception):
    """What a file says about torch cannot be understood; the message reads behind its name."""


class Allowed:
    """The releases that one statement about torch allows: those of any of its alternatives."""

    def __init__(self, text: str, alternatives: Sequence[str]) -> None:
        """``text`` is the statement for people; ``alternatives`` are specifiers as in PEP 440.

        Raises:
            BoundsError: they are none, or allow nothing.
        """
        from packaging.specifiers import InvalidSpecifier, SpecifierSet

        self.text = text
        for each in alternatives:
            require_numbers(each)
        try:
            self._sets = [SpecifierSet(each, prereleases=True) for each in alternatives]
        except InvalidSpecifier as error:
            raise BoundsError(f"`{text}` cannot be understood") from error
        if not self.candidates:
            raise BoundsError(f"no release of torch is allowed by `{text}`")

    def allows(self, version: Version) -> bool:
        """Whether some release of this minor version is allowed."""
        return any(_contains(each, version) for each in self._sets)

    @cached_property
    def candidates(self) -> tuple[Version, ...]:
        """The known releases, and those named here, that are allowed; the oldest first."""
        versions = {*KNOWN, *(_named(text) for each in self._sets for text in _versions(each))}
        return tuple(sorted(version for version in versions if self.allows(version)))

    @property
    def says_nothing(self) -> bool:
        """Whether every release is allowed."""
        return any(all(each.contains(far) for far in _FAR) for each in self._sets)

    @property
    def upper(self) -> Version | None:
        """The newest release allowed; None where there is no limit."""
        if any(each.contains(_FAR[1]) for each in self._sets):
            return None
        return self.candidates[-1]

    @property
    def lower(self) -> Version | None:
        """The oldest release allowed; None where there is no limit."""
        if any(each.contains(_FAR[0]) for each in self._sets):
            return None
        return self.candidates[0]


def shown(version: Version) -> str:
    """A version for people."""
    return f"{version[0]}.{version[1]}"


def require_numbers(text: str) -> None:
    """Make sure that the numbers of a version, or of a requirement, can be read.

    Raises:
        BoundsError: one is longer than that of any release; Python refuses thousands of digits.
    """
    digits = max(map(len, re.findall(r"\d+", text)), default=0)
    if digits > MOST_DIGITS:
        raise BoundsError(f"`{text[:MOST_DIGITS]}...` has a number of {digits:,} digits")


def minor_version(text: str) -> Version:
    """The major and minor number of a version that somebody wrote.

    Raises:
        BoundsError: it is none.
    """
    from packaging.version import InvalidVersion
    from packaging.version import Version as Parsed

    require_numbers(text)
    try:
        release = Parsed(text).release
    except InvalidVersion as error:
        raise BoundsError(f"`{text}` is not a version of torch") from error
    return (*release, 0)[:2]  # type: ignore[return-value]  # a release has one number at least


def _contains(specifiers: SpecifierSet, version: Version) -> bool:
    if any(specifiers.contains(f"{shown(version)}.{patch}") for patch in _PATCHES):
        return True
    # A pin of one build, `==2.6.0.dev20250101` say, allows that alone.
    return any(specifiers.contains(t) and _named(t) == version for t in _versions(specifiers))


def _versions(specifiers: SpecifierSet) -> list[str]:
    return [each.version.removesuffix(".*") for each in specifiers]


def _named(text: str) -> Version:
    return minor_version(text)
