"""What a command works on: the configuration, the files, and standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tclint.cli.configuration import Overrides, configure
from tclint.cli.terminal import fail, warn
from tclint.config import Config
from tclint.source.decode import decode
from tclint.source.discovery import discover
from tclint.source.errors import FileError, SourceError
from tclint.source.file import SourceFile

STDIN = Path("-")


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files to analyse; ``stdin`` is standard input, when that is the only file.

    ``raw`` are its bytes, which for a notebook are more than its text.
    """

    config: Config
    files: tuple[Path, ...]
    errors: tuple[FileError, ...] = ()
    stdin: SourceFile | None = None
    raw: bytes = b""

    @property
    def overlay(self) -> dict[Path, str]:
        """The texts that stand in for files on disk."""
        return {self.stdin.path: self.stdin.text} if self.stdin else {}


def gather(
    paths: Sequence[Path] | None, overrides: Overrides, stdin_filename: Path | None
) -> Inputs:
    """Read the configuration and find the files that the arguments name."""
    paths = paths or [Path()]
    if STDIN in paths:
        if len(paths) > 1:
            fail("`-` (standard input) cannot be combined with other paths")
        return _standard_input(overrides, stdin_filename or STDIN)
    config = configure(overrides, _start(paths))
    config = replace(config, partial=not all(path.is_dir() for path in paths))
    found = discover(paths, config)
    if not found.files and not found.errors:
        warn("no Python files found under the given paths")
    return Inputs(config, found.files, found.errors)


def _standard_input(overrides: Overrides, name: Path) -> Inputs:
    config = replace(configure(overrides, name.absolute().parent), partial=True)
    raw = sys.stdin.buffer.read()
    try:
        file = decode(name, raw)
    except SourceError as error:
        return Inputs(config, (), (error.error,))
    return Inputs(config, (name,), (), file, raw)


def _start(paths: Sequence[Path]) -> Path:
    """The folder that all paths share: the configuration is looked for there and above."""
    folders = [p.absolute() if p.is_dir() else p.absolute().parent for p in paths]
    try:
        return Path(os.path.commonpath(folders))
    except ValueError:  # the paths are on different drives
        return Path.cwd()
