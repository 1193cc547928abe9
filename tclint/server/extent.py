"""How large a folder is, as far as it takes to know that it is too large to be looked through."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from tclint.config import Config
from tclint.source.patterns import compile_patterns

MOST: Final = 50_000
"""Entries that are looked at: who opens a home folder or a disk does not want to wait for it."""


def is_vast(folder: Path, config: Config) -> bool:
    """Whether a folder, without what the configuration excludes, holds very many entries."""
    exclude = compile_patterns((*config.exclude, *config.extend_exclude))
    left = MOST
    pending = [(str(folder), "")]
    while pending:
        path, base = pending.pop()
        try:
            with os.scandir(path) as listing:
                entries = [*listing]
        except OSError:
            continue
        left -= len(entries)
        if left < 0:
            return True
        for entry in entries:
            name = base + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and not exclude.match(name, entry.name, folder=True):
                pending.append((entry.path, f"{name}/"))
    return False
