"""A configuration key in words, for the command line and the documentation."""

from __future__ import annotations

import json

from tclint.config import Key


def default_text(key: Key) -> str:
    """The default as it is written in TOML."""
    if key.default is None:
        return "depends on the environment"
    if key.kind in {"globs-to-codes", "rule-options"}:
        return "{}"
    value = list(key.default) if isinstance(key.default, tuple) else key.default
    return json.dumps(value)


def key_text(key: Key) -> str:
    """What ``tclint config KEY`` prints."""
    return f"{key.name}\n\n{key.doc}\n\nType: {key.type}\nDefault: {default_text(key)}\n"
