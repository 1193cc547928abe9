"""In which place a file of the project is: among its tests, its benchmarks, or in the code."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tclint.config import Config
from tclint.config_places import PRESETS, place_by_name
from tclint.lint.selection import matches, seen_from
from tclint.source.patterns import compile_patterns


def placing(config: Config) -> Callable[[Path], str]:
    """What tells the place of a file: the last pattern of the configuration, else the names."""
    tables = [(compile_patterns([glob]), place) for glob, place in config.per_file_places]
    known: dict[Path, str] = {}

    def place_of(path: Path) -> str:
        if path not in known:
            named = [place for patterns, place in tables if matches(patterns, path, config.root)]
            known[path] = named[-1] if named else place_by_name(_parts(config.root, path))
        return known[path]

    return place_of


def left_out(config: Config) -> frozenset[str]:
    """The places whose findings the preset leaves out."""
    return frozenset(PRESETS[config.preset])


def _parts(root: Path, path: Path) -> list[str]:
    parts = seen_from(root.absolute(), path.absolute()).split("/")
    return [part for part in parts if part != os.pardir]
