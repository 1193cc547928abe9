"""The accepted name that a wrong one was probably meant to be."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tclint.records import record

MISSPELT = (0.92, 0.84)
SIMILAR = 0.45


@record(frozen=True)
class Nearest:
    """A suggestion; ``clear`` when nothing else can have been meant, so that it may be applied."""

    name: str
    clear: bool

    @property
    def question(self) -> str:
        """The suggestion as a message puts it."""
        return f'did you mean "{self.name}"?'


def nearest(written: str, accepted: Iterable[str]) -> Nearest | None:
    """The accepted name most like ``written``; None when none is."""
    from difflib import get_close_matches

    by_letters: dict[str, str] = {}
    for name in sorted(accepted):
        by_letters.setdefault(_letters(name), name)
    key = _letters(written)
    if key in by_letters:
        return Nearest(by_letters[key], clear=True)
    for cutoff in MISSPELT:
        misspelt = get_close_matches(key, by_letters, n=2, cutoff=cutoff)
        if len(misspelt) == 1:
            return Nearest(by_letters[misspelt[0]], clear=True)
    similar = get_close_matches(key, by_letters, n=1, cutoff=SIMILAR)
    return Nearest(by_letters[similar[0]], clear=False) if similar else None


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
