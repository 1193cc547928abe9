"""Which files make up the project that some files belong to.

A project is the folder of its configuration; else the nearest folder with what marks one, above
the packages that a file is in; else the outermost package; else the file's own folder. One that is
too large to be looked through gives way to the next smaller one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from tclint.config import Config, ConfigError, config_in
from tclint.records import record
from tclint.source.discovery import FILE_NAMES, Discovery, discover
from tclint.source.ignores import REPOSITORY

MARKERS: Final = (REPOSITORY, "setup.py", "setup.cfg", *FILE_NAMES)
"""What stands in the folder of a project."""
MOST: Final = 50_000
"""Entries of a project's folders that are looked at: a home folder or a disk has more."""
FEW: Final = 2_000
"""The same of a folder that nothing marks as a project."""


@record(frozen=True)
class Rest:
    """The files of a project besides the named ones that the same configuration holds for.

    ``folders`` were looked into for them, ``unseen`` is a folder that is too large for that.
    """

    files: tuple[Path, ...]
    folders: tuple[str, ...]
    unseen: Path | None


def other_files(named: Sequence[Path], config: Config) -> Rest:
    """The rest of the project that some files belong to."""
    found: dict[Path, None] = {}
    looked: set[Path] = set()
    folders: dict[str, None] = {}
    unseen: Path | None = None
    for folder in _folders(named):
        for place, most in _places(folder, config):
            if place in looked:
                break
            root = config.root if config.source is not None else place
            listed = discover([place], replace(config, root=root), most)
            if not listed.is_cut:
                looked.add(place)
                folders.update(dict.fromkeys(listed.walked))
                found.update(dict.fromkeys(_governed(listed, place)))
                break
            unseen = unseen or place
    rest = _without(named, found)
    if not all(path.is_absolute() for path in named):
        rest = map(_from_here(), rest)
    return Rest(tuple(rest), tuple(folders), unseen)


def _folders(named: Sequence[Path]) -> list[Path]:
    here = Path.cwd()
    return [*dict.fromkeys(Path(os.path.normpath((here / path).parent)) for path in named)]


def _places(folder: Path, config: Config) -> Iterator[tuple[Path, int]]:
    """The folders that may be a file's project, the largest first, and how much to look at."""
    package = _package(folder)
    if config.source is not None and folder.is_relative_to(config.root):
        yield config.root, MOST
    else:
        above = package.parent if package is not None else folder
        marked = next((one for one in (above, *above.parents) if _is_marked(one)), None)
        if marked is not None:
            yield marked, MOST
    if package is not None:
        yield package, MOST
    yield folder, FEW


def _package(folder: Path) -> Path | None:
    """The outermost package that a folder is in."""
    outermost = None
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        outermost, folder = folder, folder.parent
    return outermost


def _is_marked(folder: Path) -> bool:
    return any((folder / name).exists() for name in MARKERS)


def _governed(listed: Discovery, place: Path) -> list[Path]:
    """The files without those that have a configuration of their own: they are another program."""
    own = [str(place), os.path.realpath(place)]
    apart = [folder for folder in listed.configured if folder not in own and _configures(folder)]
    if not apart:
        return [*listed.files]
    inside = tuple(folder + os.sep for folder in apart)
    return [path for path in listed.files if not os.path.realpath(path).startswith(inside)]


def _configures(folder: str) -> bool:
    try:
        return config_in(Path(folder)) is not None
    except ConfigError:
        return True  # whoever checks the files there is told


def _from_here() -> Callable[[Path], Path]:
    """What shows files below the current folder as somebody would name them there."""
    here = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118 (thousands of files)

    def shown(path: Path) -> Path:
        text = str(path)
        return Path(text[len(here) :]) if text.startswith(here) else path

    return shown


def _without(named: Sequence[Path], found: dict[Path, None]) -> Iterator[Path]:
    """The files that are not named, under whatever name."""
    own = {os.path.realpath(path) for path in named}
    names = {Path(path).name for path in own} | {path.name for path in named}
    for path in found:
        if path.name not in names or os.path.realpath(path) not in own:
            yield path
