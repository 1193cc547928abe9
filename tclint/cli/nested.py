"""Configurations below the folder that a run starts in: of each file, the nearest one holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from tclint.cli.configuration import Overrides, configure
from tclint.cli.terminal import fail
from tclint.config import Config, ConfigError, config_in


def nested_configs(
    files: Iterable[Path], start: Path, config: Config, overrides: Overrides
) -> dict[Path, Config]:
    """The files that a configuration below ``start`` holds for, with that configuration.

    There are none where the command line names the configuration. Ends the command when one
    cannot be read or says something it must not.
    """
    if overrides.names_file:
        return {}
    places: dict[Path, Path | None] = {start: None}
    configs: dict[Path, Config] = {}
    found: dict[Path, Config] = {}
    for file in files:
        place = _nearest(file.absolute().parent, places)
        if place is None:
            continue
        if place not in configs:
            configs[place] = replace(configure(overrides, place), partial=config.partial)
        found[file] = configs[place]
    return found


def _nearest(folder: Path, places: dict[Path, Path | None]) -> Path | None:
    """The nearest folder upwards that has a configuration, before the start of the run."""
    if folder not in places:
        real = folder.resolve()
        if real != folder:
            places[folder] = _nearest(real, places)
        elif _is_configured(folder):
            places[folder] = folder
        else:
            places[folder] = _nearest(folder.parent, places) if folder != folder.parent else None
    return places[folder]


def _is_configured(folder: Path) -> bool:
    try:
        return config_in(folder) is not None
    except ConfigError as error:
        fail(str(error))
