"""The modes, backends, options and arguments that ``torch.compile`` accepts, by torch version.

``scripts/compile_names.py`` writes the table. Versions between two entries get the names of both,
because a name that either of them knows may be there already, or still.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tclint.records import record

FILE = Path(__file__).with_name("compile_names.json")

Version = tuple[int, int]


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
    """The names that this version may know."""
    table = _table()
    known = sorted(table)
    below = max((v for v in known if v <= version), default=known[0])
    above = min((v for v in known if v >= version), default=known[-1])
    low, high = table[below], table[above]
    return CompileNames(
        low.arguments | high.arguments,
        low.modes | high.modes,
        low.backends | high.backends,
        MappingProxyType({**low.options, **high.options}),
        MappingProxyType({m: low.settings[m] | high.settings[m] for m in low.settings}),
    )


@cache
def _table() -> dict[Version, CompileNames]:
    entries: dict[str, dict[str, Any]] = json.loads(FILE.read_bytes())
    return {_version(text): _names(entry) for text, entry in entries.items()}


def _version(text: str) -> Version:
    major, minor = text.split(".")
    return int(major), int(minor)


def _names(entry: dict[str, Any]) -> CompileNames:
    return CompileNames(
        frozenset(entry["arguments"]),
        frozenset(entry["modes"]),
        frozenset(entry["backends"]),
        MappingProxyType(entry["options"]),
        MappingProxyType({module: frozenset(s) for module, s in entry["settings"].items()}),
    )
