"""Pictures are written by nobody."""

from __future__ import annotations

from typing import Any


def save_image(*args: Any, **kwargs: Any) -> None:
    """Write no picture."""


def make_grid(images: Any, *args: Any, **kwargs: Any) -> Any:
    """The first picture stands for all."""
    return images[0]
