"""Configurations below the folder that a run starts in: of each file, the nearest one holds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from tclint.config import Config, config_in
from tclint.records import record
from tclint.source.discovery import is_excluded

Read = Callable[[Path], Config]
"""The configuration in a folder that has one."""


@record(frozen=True)
class Nesting:
    """Which configuration holds for which file: ``outer``, or one of ``nested``."""

    outer: Config
    nested: Mapping[Path, Config] = field(default_factory=dict)

    def of(self, file: Path) -> Config:
        """The configuration of a file."""
        return self.nested.get(file, self.outer)

    def parts(self, files: Sequence[Path]) -> tuple[tuple[Config, tuple[Path, ...]], ...]:
        """The files by configuration; each part is a program of its own."""
        found: dict[Path | None, tuple[Config, list[Path]]] = {}
        for file in files:
            config = self.of(file)
            found.setdefault(config.source, (config, []))[1].append(file)
        parts = tuple((config, tuple(files)) for config, files in found.values())
        return parts or ((self.outer, ()),)

    def wanted(self, files: Sequence[Path], named: Collection[Path] = ()) -> tuple[Path, ...]:
        """The files that their own configuration does not exclude, and those that were named."""
        return tuple(
            file
            for file in files
            if file in named or file not in self.nested or not is_excluded(file, self.nested[file])
        )


def nested_configs(files: Sequence[Path], start: Path, outer: Config, read: Read) -> Nesting:
    """The files that a configuration below ``start`` holds for, with that configuration.

    Raises:
        ConfigError: one cannot be read or says something it must not.
    """
    places: dict[Path, Path | None] = {start: None}
    configs: dict[Path, Config] = {}
    nested: dict[Path, Config] = {}
    for file in files:
        place = _nearest(file.absolute().parent, places)
        if place is None:
            continue
        if place not in configs:
            configs[place] = replace(read(place), partial=outer.partial, by_folder=outer.by_folder)
        nested[file] = configs[place]
    return Nesting(outer, nested)


def _nearest(folder: Path, places: dict[Path, Path | None]) -> Path | None:
    """The nearest folder upwards that has a configuration, before the start of the run."""
    if folder not in places:
        real = folder.resolve()
        if real != folder:
            places[folder] = _nearest(real, places)
        elif config_in(folder) is not None:
            places[folder] = folder
        else:
            places[folder] = _nearest(folder.parent, places) if folder != folder.parent else None
    return places[folder]
