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
from tclint.config_nested import Nesting
from tclint.lint.gathering import gather_files
from tclint.records import record
from tclint.report.view import count
from tclint.source.decode import decode
from tclint.source.discovery import is_excluded
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
    try:
        found = gather_files(paths, partial(configure, overrides), alone=overrides.names_file)
    except ConfigError as error:
        fail(str(error))
    if not found.files and not found.errors and not again:
        warn("no Python files found under the given paths")
    nesting = found.nesting
    return Inputs(
        nesting.outer, found.files, found.errors, nested=nesting.nested, walked=found.walked
    )


def to_change(inputs: Inputs, named: Sequence[Path]) -> Inputs:
    """What a command may change: files of the project, and those that its arguments name.

    A link in a folder may lead to any file that the user can write to, and nobody asked for that.
    """
    inside = (Path.cwd(), inputs.config.root, *named)
    roots = [Path(os.path.realpath(folder)) for folder in inside]
    out = [
        file
        for file in inputs.files
        if file.is_symlink()
        and file not in named
        and not any(Path(os.path.realpath(file)).is_relative_to(root) for root in roots)
    ]
    if not out:
        return inputs
    such = "" if len(out) == 1 else f" and {count(len(out) - 1, 'other link')}"
    leads = "leads" if len(out) == 1 else "lead"
    warn(f"{out[0]}{such} {leads} out of the project: not changed, unless you name the file")
    return replace(inputs, files=tuple(file for file in inputs.files if file not in out))


def _standard_input(overrides: Overrides, name: Path) -> Inputs:
    config = replace(configure(overrides, name.absolute().parent), partial=True)
    raw = sys.stdin.buffer.read()
    try:
        file = decode(name, raw)
    except SourceError as error:
        return Inputs(config, (), (error.error,))
    left_out = config.force_exclude and is_excluded(name, config)
    return Inputs(config, () if left_out else (name,), (), file, raw)
