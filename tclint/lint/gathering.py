"""What a run is about: the files that its paths name, each with the configuration that holds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tclint.config import Config, check_codes, names_codes, with_codes
from tclint.config_nested import Nesting, Read, nested_configs
from tclint.files import is_dir
from tclint.lint.options import check_options
from tclint.lint.project_files import hold_all
from tclint.lint.registry import codes_by_name, known_rules
from tclint.records import record
from tclint.source.discovery import discover
from tclint.source.errors import FileError


@record(frozen=True)
class Gathered:
    """The files below some paths; ``walked`` are the folders looked into."""

    nesting: Nesting
    files: tuple[Path, ...]
    errors: tuple[FileError, ...]
    walked: tuple[str, ...]


def gather_files(paths: Sequence[Path], read: Read, *, alone: bool) -> Gathered:
    """Find the files that the paths name, and what holds for each.

    ``read`` gives the configuration that holds in a folder; ``alone`` says that one holds for all.

    Raises:
        ConfigError: one cannot be read or says something it must not.
    """
    start = _start(paths)
    named = {path for path in paths if not is_dir(path)}
    config = read(start)
    by_folder = not named and not hold_all(paths, config)
    config = replace(config, partial=bool(named) or by_folder, by_folder=by_folder)
    found = discover(paths, config)
    nesting = Nesting(config)
    if not alone and (named or found.configured - {str(start)}):
        nesting = nested_configs(found.files, start, config, read)
    files = nesting.wanted(found.files, () if config.force_exclude else named)
    return Gathered(nesting, files, found.errors, found.walked)


def with_known_codes(config: Config, written: Config) -> Config:
    """The configuration with the codes of the rules that it names; ``written`` is what a file says.

    Raises:
        ConfigError: a rule or one of its options does not exist.
    """
    if not names_codes(config):
        return config
    rules, names = known_rules(), codes_by_name()
    config = with_codes(config, names)
    check_codes(config, [rule.code for rule in rules], with_codes(written, names))
    check_options(config, rules)
    return config


def _start(paths: Sequence[Path]) -> Path:
    """The folder that all paths share: the configuration is looked for there and above."""
    folders = [p if is_dir(p) else p.parent for p in paths]
    try:
        return Path(os.path.commonpath(map(os.path.realpath, folders)))
    except ValueError:  # the paths are on different drives
        return Path.cwd()
