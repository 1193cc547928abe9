"""The table of prices, as a page of the documentation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def page(runs: Sequence[Mapping[str, Any]]) -> str:
    """The page."""
    del runs
    return ""
