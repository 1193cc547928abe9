"""Workflow commands: lines from which GitHub Actions makes annotations."""

from __future__ import annotations

from collections.abc import Mapping

from tclint.printable import printable


def command(level: str, properties: Mapping[str, str], message: str) -> str:
    """One command on one line, which nothing in it can end, or make another of."""
    joined = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {joined}::{_data(message)}"


def _data(text: str) -> str:
    escaped = printable(text).replace("%", "%25")
    return escaped.replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
