"""Which releases of torch have what: each fact holds from one release on, and maybe until another.

``python -m scripts.torch_facts`` writes the table. It has a section for the names of torch's API
and one for each kind of name that ``torch.compile`` accepts. Its keys are spans (``2.3``,
``2.6-2.13``), its values what has that span.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from tclint.records import record
from tclint.torch_facts.table import canonical

FILE = Path(__file__).with_name("lifetimes.json")

Version = tuple[int, int]

FIRST: Final = (2, 0)
"""The first release that has ``torch.compile``."""
_OWNERS: Final = ("torch.Tensor", "torch.nn.Module", "torch.optim.Optimizer")


@record(frozen=True)
class Lifetime:
    """The releases that have something: ``since`` is the first, ``until`` the first without it."""

    since: Version
    until: Version | None = None

    def holds(self, version: Version) -> bool:
        """Whether that release has it."""
        return self.since <= version and (self.until is None or version < self.until)


def lifetime(dotted: str, argument: str | None = None) -> Lifetime | None:
    """When torch has a name, or an argument of it; None if not known.

    What an object has, such as a method of a setting's value, lives as long as the object.
    """
    name, names = canonical(dotted), lifetimes("names")
    found = names.get(name.removeprefix("torch.")) if name.startswith("torch.") else None
    owner = name.rpartition(".")[0]
    if found is None and owner and owner not in _owners():
        return lifetime(owner)
    if found is None or argument is None:
        return found
    given = names.get(f"{name.removeprefix('torch.')}({argument})", found)
    return given if given.since > found.since else found


def since(dotted: str, argument: str | None = None) -> Version | None:
    """The first release with a name of torch's, or with an argument of it; None if not known."""
    found = lifetime(dotted, argument)
    return None if found is None else found.since


def method_lifetime(name: str, argument: str | None = None) -> Lifetime | None:
    """When tensors, modules or optimizers have a method: the longest counts; None if never."""
    found = [lifetime(f"{owner}.{name}", argument) for owner in _OWNERS]
    return min((one for one in found if one), key=lambda one: one.since, default=None)


@cache
def lifetimes(section: str) -> Mapping[str, Lifetime]:
    """One section of the table, the oldest first; an option with its type: ``cpp.cxx:tuple``."""
    return MappingProxyType(parsed(_table()[section]))


@cache
def _owners() -> frozenset[str]:
    """The modules and classes whose names are all in the table."""
    names = (f"torch.{name}" for name in lifetimes("names"))
    return frozenset({"torch", *(name.rpartition(".")[0] for name in names)})


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(FILE.read_bytes())
    return table


def parsed(section: Mapping[str, str]) -> dict[str, Lifetime]:
    """A section as it stands in the file."""
    spans = {_span(text): names for text, names in section.items()}
    found: dict[str, Lifetime] = {}
    for one in sorted(spans, key=lambda one: one.since):
        found |= dict.fromkeys(spans[one].split(), one)
    return found


def _span(text: str) -> Lifetime:
    first, _, last = text.partition("-")
    return Lifetime(version_of(first), version_of(last) if last else None)


def version_of(text: str) -> Version:
    """The release that is written ``2.13``."""
    major, minor = text.split(".")
    return int(major), int(minor)
