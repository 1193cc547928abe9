"""The modes, backends, options and arguments that ``torch.compile`` accepts, by torch version.

Not every release was asked for them. Between two that were, a name is taken for one that torch has
if either knows it, because it may be there already, or still.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from tclint.records import record
from tclint.torch_facts.lifetimes import FIRST, Version, lifetimes


@record(frozen=True)
class CompileNames:
    """What one torch version accepts.

    ``options`` are inductor's, each with the type that it insists on (empty: any, or not known).
    ``settings`` are the names in torch's modules of settings, by module.
    """

    arguments: frozenset[str]
    modes: frozenset[str]
    backends: frozenset[str]
    options: Mapping[str, str]
    settings: Mapping[str, frozenset[str]]


@cache
def compile_names(version: Version) -> CompileNames:
    """The names that this version may know; before ``torch.compile`` those of the first with it."""
    asked = max(version, FIRST)
    return CompileNames(
        frozenset(_known("arguments", asked)),
        frozenset(_known("modes", asked)),
        frozenset(_known("backends", asked)),
        MappingProxyType(dict(_split(_known("options", asked)))),
        _settings(_known("settings", asked)),
    )


def _known(section: str, version: Version) -> list[str]:
    """What that release may have, the newest last."""
    return [name for name, one in lifetimes(section).items() if one.holds(version)]


def _split(options: list[str]) -> list[tuple[str, str]]:
    pairs = (option.partition(":") for option in options)
    return [(name, kind) for name, _, kind in pairs]


def _settings(dotted: list[str]) -> Mapping[str, frozenset[str]]:
    modules: dict[str, set[str]] = {}
    for each in dotted:
        module, _, name = each.partition(".config.")
        modules.setdefault(f"torch.{module}.config", set()).add(name)
    return MappingProxyType({module: frozenset(names) for module, names in modules.items()})
