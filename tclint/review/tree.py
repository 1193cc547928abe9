"""Lays out the Python files of a commit in a folder of its own, with a trusted configuration."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from tclint.config import (
    Config,
    ConfigError,
    find_config,
    load_config,
    requirement_problems,
)
from tclint.records import record
from tclint.review.git import Blob, Git, GitError
from tclint.source.discovery import FILE_NAMES
from tclint.source.patterns import compile_patterns
from tclint.torch_bounds import may_speak

TOML: Final = ".toml"


@record(frozen=True)
class Layout:
    """The configuration of the folder, and the files that were too large to write.

    ``nested`` reads the one of a folder below that has its own.
    """

    config: Config
    left_out: tuple[Blob, ...]
    nested: Callable[[Path], Config]


def lay_out(git: Git, trusted: str, head: str, folder: Path) -> Layout:
    """Write the files of ``head`` that a run would look at below ``folder``.

    The configurations are those of ``trusted``, usually the base: a pull request must not be able
    to silence its own review. They cannot name an environment, which would lie outside the folder.

    Raises:
        GitError: a commit cannot be read, or is larger than the limits allow.
        ConfigError: the configuration is faulty.
    """
    # Those of other names may be extended.
    said = (b for b in git.files(trusted) if b.path.endswith(TOML) or may_speak(b.path))
    _write(git, said, folder)
    found = find_config(folder)
    if found is None or found.parent != folder:
        # Nothing above the scratch folder may take part.
        found = folder / FILE_NAMES[0]
        found.write_bytes(b"")
    read = partial(_read, folder)
    config = read(folder)
    include = compile_patterns(config.include)
    wanted = (
        blob
        for blob in git.files(head)
        if not blob.path.endswith(TOML)
        and include.match(blob.path, blob.path.rpartition("/")[2], folder=False)
    )
    return Layout(config, _write(git, wanted, folder), read)


def _read(root: Path, folder: Path) -> Config:
    try:
        config = load_config(folder, top=root)
    except ConfigError as error:
        # People know the file by its name, not by where the copy happens to lie.
        raise ConfigError(_named(str(error), root)) from error
    return replace(config, respect_gitignore=False, python_environment="")


def problems(layout: Layout, folder: Path) -> tuple[str, ...]:
    """What is wrong with files that speak of torch, and what is assumed instead."""
    return tuple(_named(text, folder) for text in requirement_problems(layout.config))


def _named(text: str, root: Path) -> str:
    """A message that names files as the repository does."""
    return text.replace(f"{root}{os.sep}", "")


def _write(git: Git, blobs: Iterable[Blob], folder: Path) -> tuple[Blob, ...]:
    """Write the files; those that are too large are returned instead."""
    limits = git.limits
    writable = [blob for blob in blobs if _writable(blob.path, limits.path_bytes)]
    wanted = [blob for blob in writable if blob.size <= limits.file_bytes]
    if sum(blob.size for blob in wanted) > limits.total_bytes:
        raise GitError(f"the Python files have more than {limits.total_bytes:,} bytes")
    for blob, content in git.contents(wanted):
        target = folder / blob.path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        except OSError as error:
            # A crafted tree may hold a file and a folder of the same name.
            raise GitError(f"{blob.path}: cannot be laid out: {error.strerror}") from error
    return tuple(blob for blob in writable if blob.size > limits.file_bytes)


def _writable(path: str, longest: int) -> bool:
    """Whether a path stays below its folder everywhere: a crafted tree may hold any name."""
    parts = path.split("/")
    return (
        len(os.fsencode(path)) <= longest
        and all(len(os.fsencode(part)) < 256 for part in parts)
        and not any(part in ("", ".", "..") or part.lower() == ".git" for part in parts)
        and not ("\\" in path or ":" in parts[0])
    )
