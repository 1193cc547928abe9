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

SEARCHED: Final = 1_000
"""Files around a folder that are searched for callers: reading what they import takes a moment."""


@record(frozen=True)
class Rest:
    """The files of a project besides the named ones that the same configuration holds for.

    ``folders`` were looked into for them, ``unseen`` is a folder that is too large for that, and
    ``unread`` is the number of files around named folders that are too many.
    """

    files: tuple[Path, ...]
    folders: tuple[str, ...]
    unseen: Path | None
    unread: int = 0


def hold_all(folders: Sequence[Path], config: Config) -> bool:
    """True where folders hold all of the projects that they belong to."""
    tops = [Path(os.path.normpath(Path.cwd() / folder)) for folder in folders]
    places = [next(_places(top, config))[0] for top in tops]
    return all(any(place.is_relative_to(top) for top in tops) for place in places)


def other_files(named: Sequence[Path], config: Config) -> Rest:
    """The rest of the project that some files belong to."""
    search = _Search(named, config)
    folders = _folders(named)
    for folder in _topmost(folders) if config.by_folder else folders:
        for place, most in _places(folder, config):
            if search.takes(place, most):
                break
    rest = [*search.found]
    if not all(path.is_absolute() for path in named):
        rest = [*map(_from_here(), rest)]
    return Rest(tuple(rest), tuple(search.folders), search.unseen, search.unread)


class _Search:
    """A search for the rest of projects: what was found, and where it was given up."""

    def __init__(self, named: Sequence[Path], config: Config) -> None:
        self._own: Final = _Named(named)
        self._config: Final = config
        self._places: Final[dict[Path, bool]] = {}
        self.found: Final[dict[Path, None]] = {}
        self.folders: Final[dict[str, None]] = {}
        self.unseen: Path | None = None
        self.unread = 0

    def takes(self, place: Path, most: int) -> bool:
        """Take the files of what may be a project; false where it is none, or too large."""
        if place not in self._places:
            self._places[place] = self._looks_through(place, most)
        return self._places[place]

    def _looks_through(self, place: Path, most: int) -> bool:
        config = self._config
        root = config.root if config.source is not None else place
        listed = discover([place], replace(config, root=root), most)
        if listed.is_cut:
            self.unseen = self.unseen or place
            return False
        every = _governed(listed, place)
        rest = [path for path in every if path not in self._own]
        if config.by_folder and len(rest) == len(every):
            return False  # the project leaves the folder out
        self.folders.update(dict.fromkeys(listed.walked))
        if config.by_folder and len(rest) > SEARCHED:
            self.unread = self.unread or len(rest)
            return False
        self.found.update(dict.fromkeys(rest))
        return True


def _folders(named: Sequence[Path]) -> list[Path]:
    here = Path.cwd()
    return [*dict.fromkeys(Path(os.path.normpath((here / path).parent)) for path in named)]


def _topmost(folders: Sequence[Path]) -> list[Path]:
    """The folders that are in none of the others."""
    every = {*folders}
    return [folder for folder in folders if every.isdisjoint(folder.parents)]


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


class _Named:
    """The files that are named, under whatever name."""

    def __init__(self, named: Sequence[Path]) -> None:
        self._own: Final = {os.path.realpath(path) for path in named}
        self._names: Final = {Path(path).name for path in self._own} | {path.name for path in named}

    def __contains__(self, path: Path) -> bool:
        return path.name in self._names and os.path.realpath(path) in self._own
