"""Keeps the code under review from being imported."""

from __future__ import annotations

import sys
from pathlib import Path

import tclint


def distrust(repository: Path) -> None:
    """Take the repository off the import path.

    Rule packs are found on that path, and ``python -m tclint`` puts the current folder there: a
    pull request could bring a package that registers itself as one. Where tclint itself runs from
    the repository, its own folder has to stay.
    """
    root = repository.resolve()
    own = Path(tclint.__file__).resolve().parent.parent
    sys.path[:] = [entry for entry in sys.path if _outside(Path(entry).resolve(), root, own)]


def _outside(entry: Path, root: Path, own: Path) -> bool:
    return entry == own or not entry.is_relative_to(root)
