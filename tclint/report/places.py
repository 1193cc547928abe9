"""Findings by place, the project's own code first, and words for how many are elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tclint.config_places import PLACE_NAMES, WORDS
from tclint.report.view import count

if TYPE_CHECKING:
    from tclint.lint.engine import Result


def by_place(results: Sequence[Result]) -> Iterator[tuple[str, list[Result]]]:
    """The findings of each place that has some, under its words; none for the code."""
    for place in PLACE_NAMES:
        found = [result for result in results if result.place == place]
        if found:
            yield heading(place, len(found)), found


def heading(place: str, number: int) -> str:
    """``12 findings in tests``; nothing for the code."""
    return f"{count(number, 'finding')} in {WORDS[place]}" if place in WORDS else ""


def listed(counts: Sequence[tuple[str, int]]) -> str:
    """``5 in tests and 2 in export code``, of the places only."""
    parts = [f"{number} in {WORDS[place]}" for place, number in counts if place in WORDS]
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)
