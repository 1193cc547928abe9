"""Who made a report."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, metadata

NAME = "tclint"
DISTRIBUTION = "tclint-torch"


def homepage() -> str | None:
    """The project's address as its package says; None in a checkout that is not installed."""
    try:
        urls = metadata(DISTRIBUTION).get_all("Project-URL") or []
    except PackageNotFoundError:
        return None
    named = dict(url.split(", ", 1) for url in urls if ", " in url)
    return next((named[key] for key in ("Homepage", "Repository", "Source") if key in named), None)
