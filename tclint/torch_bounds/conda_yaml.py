"""Environment files of Conda."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from tclint.torch_bounds.releases import BoundsError
from tclint.torch_bounds.statements import (
    Kind,
    Requirement,
    Statement,
    conda,
    requirement,
    statement,
)
from tclint.torch_bounds.text import items, names_torch, read_text


def environment(file: Path) -> list[Statement]:
    """What an environment file says of torch, for Conda and for pip.

    Raises:
        BoundsError: it cannot be read or understood.
    """
    text = read_text(file)
    if not names_torch(text):
        return []
    data = _load(text)
    found: list[Requirement] = []
    for entry in items(data.get("dependencies") if isinstance(data, dict) else None):
        if isinstance(entry, str):
            one = conda(entry)
            found += [] if one is None else [one]
        elif isinstance(entry, dict):
            lines = (line for line in items(entry.get("pip")) if isinstance(line, str))
            found += [one for line in lines if (one := requirement(line)) is not None]
    return [statement(file, Kind.INSTALLED, found)] if found else []


def _load(text: str) -> Any:
    yaml = import_module("yaml")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(text, Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BoundsError(f"not valid YAML: {' '.join(str(error).split())}") from error
