"""Lays out the Python files of a commit in a folder of its own, with the base's configuration."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from tclint.config import FILE_NAMES, Config, ConfigError, find_config, read_config
from tclint.review.git import Blob, Git
from tclint.source.patterns import compile_patterns


def lay_out(git: Git, base: str, head: str, folder: Path) -> Config:
    """Write the files of ``head`` that a run would look at below ``folder``.

    The configuration is the one of ``base``: a pull request must not be able to silence its own
    review.

    Raises:
        GitError: a commit cannot be read.
        ConfigError: the configuration of ``base`` is faulty.
    """
    _write(git, (b for b in git.files(base) if b.path in FILE_NAMES), folder)
    found = find_config(folder)
    if found is None or found.parent != folder:
        # Nothing above the scratch folder may take part.
        found = folder / FILE_NAMES[0]
        found.write_bytes(b"")
    config = _read(found, folder)
    include = compile_patterns(config.include)
    wanted = (
        blob
        for blob in git.files(head)
        if blob.path not in FILE_NAMES
        and include.match(blob.path, blob.path.rpartition("/")[2], folder=False)
    )
    _write(git, wanted, folder)
    return config


def _read(file: Path, folder: Path) -> Config:
    try:
        return read_config(file)
    except ConfigError as error:
        # People know the file by its name, not by where the copy happens to lie.
        raise ConfigError(str(error).replace(f"{folder}{os.sep}", "")) from error


def _write(git: Git, blobs: Iterable[Blob], folder: Path) -> None:
    for blob, content in git.contents([blob for blob in blobs if _writable(blob.path)]):
        target = folder / blob.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _writable(path: str) -> bool:
    """Whether a path stays below its folder everywhere: a crafted tree may hold any name."""
    parts = path.split("/")
    return not any(part in ("", ".", "..") or part.lower() == ".git" for part in parts) and not (
        "\\" in path or ":" in parts[0]
    )
