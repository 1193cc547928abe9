"""The mode that a name which torch does not know was meant to be."""

from __future__ import annotations

import re

from .nearest import Nearest, nearest


def meant_mode(mode: str, known: frozenset[str]) -> Nearest | None:
    """The mode of that spelling, or else the only one with that first word."""
    without = _without_graphs(mode)
    alike = sorted(name for name in known if _without_graphs(name) == without)
    close = nearest(mode, alike)
    if close and close.clear:
        return close
    family = [name for name in alike if _words(name)[:1] == _words(mode)[:1]]
    return Nearest(family[0], clear=True) if len(family) == 1 else close


def _without_graphs(mode: str) -> bool:
    """True for a name that rules CUDA graphs out: no misspelling turns that round."""
    return "nocudagraph" in "".join(_words(mode))


def _words(mode: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", mode.lower())
