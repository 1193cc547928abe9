"""Which program a file belongs to: one for each configuration that an editor's files have."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from tclint.config import (
    Config,
    ConfigError,
    check_codes,
    find_config,
    load_config,
    read_config,
    with_codes,
)
from tclint.files import Version, version_of
from tclint.lint import project_files
from tclint.lint.registry import codes_by_name, known_rules
from tclint.server.neighbours import KnownImports
from tclint.server.program import Program
from tclint.server.settings import Settings
from tclint.source.discovery import FILE_NAMES, discover

KEPT: Final = 8
"""Programs that stay in memory."""

Stamp = tuple[Version | None, ...]


class Programs:
    """The programs of an editor, by their configuration."""

    def __init__(self) -> None:
        self._programs: dict[tuple[Path | None, Config], Program] = {}
        self._entered: dict[Config, Program] = {}
        self._imports = KnownImports()
        self._excluded: dict[tuple[Path, Config], bool] = {}
        self._configs: dict[tuple[Path, Path | None], tuple[Settings, Stamp, Stamp, Config]] = {}

    def config(self, path: Path, folder: Path | None, settings: Settings) -> Config:
        """The configuration of a file; it is read again when one on the way has changed.

        Raises:
            ConfigError: it cannot be read or says something it must not.
        """
        key, stamp = (path.parent, folder), _stamp(path)
        known = self._configs.get(key)
        if known is not None and known[:3] == (settings, stamp, _grounds(known[3])):
            return known[3]
        config = config_for(path, folder, settings)
        self._configs[key] = settings, stamp, _grounds(config), config
        return config

    def enter(self, config: Config, folder: Path | None) -> Program:
        """The program of the files below a configuration's root, as far as a folder holds them."""
        base = config.root if folder and folder in (config.root, *config.root.parents) else folder
        key = base, config
        program = self._programs.pop(key, None)
        if program is None:
            program = Program(config, _listed(base, config), self._imports)
            while len(self._programs) >= KEPT:
                self._programs.pop(next(iter(self._programs)))
        self._programs[key] = program  # the latest used are the last
        self._entered = {known: p for (_, known), p in self._programs.items()} | {config: program}
        return program

    def of(self, config: Config) -> Program:
        """The program that was entered last with a configuration."""
        program = self._entered.get(config)
        return program if program is not None else self.enter(config, None)

    def excludes(self, path: Path, config: Config) -> bool:
        """Whether a configuration leaves a file alone."""
        key = path, config
        if key not in self._excluded:
            if len(self._excluded) > 1000:
                self._excluded.clear()
            self._excluded[key] = not discover([path], replace(config, force_exclude=True)).files
        return self._excluded[key]

    def forget(self) -> None:
        """Look anew for the files that there are."""
        self._programs.clear()
        self._configs.clear()
        self._entered.clear()
        self._excluded.clear()


def _listed(base: Path | None, config: Config) -> tuple[Path, ...]:
    if base is None:
        return ()
    listed = discover([base], config, project_files.MOST)
    return () if listed.is_cut else listed.files


def config_for(path: Path, folder: Path | None, settings: Settings) -> Config:
    """The configuration of a file: the client's, that of the file's folder, or the defaults.

    Raises:
        ConfigError: it cannot be read or says something it must not.
    """
    named = settings.file(folder or path.parent)
    if named is not None:
        if not named.is_file():
            raise ConfigError(f"the editor's setting tclint.configuration: {named} is not a file")
        config = read_config(named, project=folder or path.parent)
    elif find_config(path) is None and folder is not None:
        config = load_config(folder)
    else:
        config = load_config(path)
    config = settings.over(config)
    if config.source is not None or settings.configuration:
        config = with_codes(config, codes_by_name())
        check_codes(config, _codes())
    return config


def _stamp(path: Path) -> Stamp:
    """The versions of all files that may configure a file."""
    return tuple(version_of(folder / name) for folder in path.parents for name in FILE_NAMES)


def _grounds(config: Config) -> Stamp:
    """The versions of the files that tell which torch a project is for."""
    return tuple(version_of(name) for name in (*config.torch.files, *config.torch.folders))


@cache
def _codes() -> frozenset[str]:
    return frozenset(rule.code for rule in known_rules())
