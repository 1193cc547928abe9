"""Reading TOML on every Python that tclint runs on."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML; Python 3.10 has no parser of its own.

    Raises:
        ValueError: it is none.
    """
    tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        data: dict[str, Any] = tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("too deeply nested") from error
    return data
