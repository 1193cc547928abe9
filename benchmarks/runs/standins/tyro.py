"""The function of tyro that single-file scripts call: a dataclass from ``--some-field VALUE``."""

from __future__ import annotations

import sys
from dataclasses import fields
from typing import Any


def cli(kind: Any) -> Any:
    """An object of that class, with what the command line says."""
    words = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=False))
    given = {}
    for field in fields(kind):
        text = words.get("--" + field.name.replace("_", "-"))
        if text is not None:
            old = field.default
            given[field.name] = text == "True" if isinstance(old, bool) else type(old)(text)
    return kind(**given)
