"""The environments that packages are installed into, looked at without importing anything."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tclint.config_keys import ConfigError
from tclint.files import expanded, is_dir

FOLDER_NAMES: Final = ("site-packages", "dist-packages")
LAYOUTS: Final = ("lib/python3*/site-packages", "lib64/python3*/site-packages", "Lib/site-packages")
_MOST_DIGITS: Final = 10
METADATA: Final = (".dist-info", ".egg-info")


def installed_torch(root: Path, environment: str) -> tuple[tuple[int, int], str] | None:
    """The torch installed for a project, else beside tclint, and where; None when there is none."""
    beside = root / expanded(environment) if environment else root / ".venv"
    places = ((_folders_of(beside), f"in {beside.name}"), (sys.path, "beside tclint"))
    for folders, where in places:
        version = installed_release("torch", folders)
        if version is not None:
            return version, f"installed {where}"
    return None


def installed_release(distribution: str, folders: Iterable[str | Path]) -> tuple[int, int] | None:
    """The major and minor version of a distribution in some folders; None when there is none.

    The names of its folders of metadata say so. ``importlib.metadata`` would read them as well, but
    takes longer to import than all else that a run without work does.
    """
    for entry in folders:
        try:
            names = os.listdir(entry or ".")  # noqa: PTH208 (hundreds of names, in every run)
        except OSError:
            continue
        for name in names:
            stem, suffix = os.path.splitext(name)  # noqa: PTH122
            package, _, version = stem.partition("-")
            if suffix in METADATA and package == distribution:
                return _release(version)
    return None


def _release(version: str) -> tuple[int, int] | None:
    major, _, rest = version.partition(".")
    minor = rest.partition(".")[0]
    numbers = (major, minor)
    if not all(number.isdecimal() and len(number) < _MOST_DIGITS for number in numbers):
        return None
    return int(major), int(minor)


def package_folders(root: Path, environment: str, named_by: str) -> tuple[Path, ...]:
    """The folders with the packages of an environment, which something has ``named_by`` its path.

    Without a path that is the ``.venv`` of the project at ``root``, else what runs tclint.

    Raises:
        ConfigError: the configured environment holds no packages.
    """
    if environment:
        place = root / expanded(environment)
        folders = _folders_of(place)
        if not folders:
            raise ConfigError(
                f"{named_by}: python-environment: {place} is neither a virtual environment nor a "
                "folder named site-packages"
            )
        return folders
    beside = _folders_of(root / ".venv")
    return beside or tuple(Path(entry) for entry in sys.path if Path(entry).name in FOLDER_NAMES)


def _folders_of(environment: Path) -> tuple[Path, ...]:
    if environment.name in FOLDER_NAMES and environment.is_dir():
        return (environment,)
    if not is_dir(environment):
        return ()
    found = [folder for layout in LAYOUTS for folder in sorted(environment.glob(layout))]
    return tuple({folder.resolve(): folder for folder in found})  # lib64 may be lib
