"""What a command works on: the configuration, the files, and standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path

from tclint.cli.configuration import Overrides, configure
from tclint.cli.terminal import fail, warn
from tclint.config import Config, ConfigError
from tclint.config_nested import Nesting, nested_configs
from tclint.records import record
from tclint.source.decode import decode
from tclint.source.discovery import discover, is_excluded
from tclint.source.errors import FileError, SourceError
from tclint.source.file import SourceFile

STDIN = Path("-")


@record(frozen=True)
class Inputs:
    """The files to analyse; ``stdin`` is standard input, when that is the only file.

    ``raw`` are its bytes, which for a notebook are more than its text. ``nested`` are the files
    that a configuration nearer than ``config`` holds for, ``walked`` the folders looked into.
    """

    config: Config
    files: tuple[Path, ...]
    errors: tuple[FileError, ...] = ()
    stdin: SourceFile | None = None
    raw: bytes = b""
    nested: Mapping[Path, Config] = field(default_factory=dict)
    walked: tuple[str, ...] = ()

    @property
    def nesting(self) -> Nesting:
        """Which configuration holds for which file."""
        return Nesting(self.config, self.nested)

    @property
    def parts(self) -> tuple[tuple[Config, tuple[Path, ...]], ...]:
        """The files by configuration; each part is a program of its own."""
        return self.nesting.parts(self.files)

    @property
    def overlay(self) -> dict[Path, str]:
        """The texts that stand in for files on disk."""
        return {self.stdin.path: self.stdin.text} if self.stdin else {}


def gather(
    paths: Sequence[Path] | None,
    overrides: Overrides,
    stdin_filename: Path | None,
    *,
    again: bool = False,
) -> Inputs:
    """Read the configuration and find the files that the arguments name; ``again`` says less."""
    try:
        Path.cwd()
    except FileNotFoundError:
        fail("the current folder does not exist any more")
    paths = paths or [Path() if stdin_filename is None else STDIN]
    if STDIN in paths:
        if len(paths) > 1:
            fail("`-` (standard input) cannot be combined with other paths")
        return _standard_input(overrides, stdin_filename or STDIN)
    if stdin_filename is not None:
        fail("--stdin-filename is for standard input: leave the paths out, or write `-`")
    start = _start(paths)
    config = configure(overrides, start)
    named = {path for path in paths if not path.is_dir()}
    config = replace(config, partial=bool(named))
    found = discover(paths, config)
    nesting = Nesting(config)
    if not overrides.names_file and (named or found.configured - {str(start)}):
        nesting = _nesting(found.files, start, config, overrides)
    files = nesting.wanted(found.files, () if config.force_exclude else named)
    if not files and not found.errors and not again:
        warn("no Python files found under the given paths")
    return Inputs(config, files, found.errors, nested=nesting.nested, walked=found.walked)


def _nesting(files: Sequence[Path], start: Path, config: Config, overrides: Overrides) -> Nesting:
    try:
        return nested_configs(files, start, config, partial(configure, overrides))
    except ConfigError as error:
        fail(str(error))


def _standard_input(overrides: Overrides, name: Path) -> Inputs:
    config = replace(configure(overrides, name.absolute().parent), partial=True)
    raw = sys.stdin.buffer.read()
    try:
        file = decode(name, raw)
    except SourceError as error:
        return Inputs(config, (), (error.error,))
    left_out = config.force_exclude and is_excluded(name, config)
    return Inputs(config, () if left_out else (name,), (), file, raw)


def _start(paths: Sequence[Path]) -> Path:
    """The folder that all paths share: the configuration is looked for there and above."""
    folders = [p if p.is_dir() else p.parent for p in paths]
    try:
        return Path(os.path.commonpath(map(os.path.realpath, folders)))
    except ValueError:  # the paths are on different drives
        return Path.cwd()
