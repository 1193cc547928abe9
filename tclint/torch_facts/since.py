"""Since which release torch has a name; scripts/torch_since.py writes the table from its wheels."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Final

from tclint.torch_facts.moved import COMPILER_NAMES
from tclint.torch_facts.table import canonical

FILE = Path(__file__).with_name("since.json")

Version = tuple[int, int]

OLDER: Final = {
    moved.new: old
    for old, moved in reversed(COMPILER_NAMES.items())
    if moved.same and not moved.warns
}
"""What a public name was called before it was public, where that is the same function."""
_OWNERS: Final = ("torch.Tensor", "torch.nn.Module", "torch.optim.Optimizer")


def since(dotted: str, argument: str | None = None) -> Version | None:
    """The first release with a name of torch's, or with an argument of it; None if not known.

    What an object has, such as a method of a setting's value, is as old as the object.
    """
    name, table = canonical(dotted), _table()
    first = table.get(name)
    owner = name.rpartition(".")[0]
    if first is None and owner and owner not in _owners():
        return since(owner)
    if first is None or argument is None:
        return first
    return max(first, table.get(f"{name}({argument})", first))


def method_since(name: str, argument: str | None = None) -> Version | None:
    """The first release in which tensors, modules or optimizers have a method; None if never."""
    found = [since(f"{owner}.{name}", argument) for owner in _OWNERS]
    return min((version for version in found if version is not None), default=None)


@cache
def _owners() -> frozenset[str]:
    """The modules and classes whose names are all in the table."""
    return frozenset({"torch", *(name.rpartition(".")[0] for name in _table())})


@cache
def _table() -> dict[str, Version]:
    names: dict[str, str] = json.loads(FILE.read_bytes())
    return {f"torch.{n}": _version(text) for text, line in names.items() for n in line.split()}


def _version(text: str) -> Version:
    major, minor = text.split(".")
    return int(major), int(minor)
