"""From what the files of a project say to the newest and the oldest torch that it is for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from fnmatch import fnmatch
from itertools import takewhile
from pathlib import Path
from typing import Final, TypeVar

from tclint.files import exists, is_file
from tclint.records import record
from tclint.torch_bounds.conda_yaml import environment
from tclint.torch_bounds.locks import LOCKS, locked
from tclint.torch_bounds.pyproject import pyproject
from tclint.torch_bounds.readme import readme
from tclint.torch_bounds.releases import (
    COMPILING_TORCH,
    NEWEST_TORCH,
    UNSTATED_TORCH,
    BoundsError,
    Version,
    shown,
)
from tclint.torch_bounds.requirements_txt import listed
from tclint.torch_bounds.setup_files import setup_cfg, setup_py
from tclint.torch_bounds.statements import Kind, Statement, statement

METADATA: Final[dict[str, Callable[[Path], list[Statement]]]] = {
    "pyproject.toml": pyproject,
    "setup.cfg": setup_cfg,
    "setup.py": setup_py,
}
"""Files of fixed names that say which packages a project needs."""
_REQUIREMENTS: Final = "requirements"
_ENVIRONMENTS: Final = ("*env*.yml", "*env*.yaml", "conda*.yml", "conda*.yaml")
_READMES: Final = ("README", "README.*", "readme.*", "Readme.*")
_LISTS: Final = (f"*{_REQUIREMENTS}*.txt", f"*{_REQUIREMENTS}*.in")
PATTERNS: Final = (
    *METADATA, *LOCKS, *_ENVIRONMENTS, *_READMES, *_LISTS, f"{_REQUIREMENTS}/*.txt"
)  # fmt: skip
"""What the files that are read are called."""
_REPOSITORY: Final = ".git"
_NEWEST: Final = "the newest that tclint knows"
UNSTATED: Final = "no file says which torch; set `min-torch`"
_Found = TypeVar("_Found")
Installed = Callable[[], "tuple[Version, str] | None"]
"""Tells the torch that is installed, and where."""


@record(frozen=True)
class Torch:
    """A version and where it comes from, in words that read behind it."""

    version: Version
    source: str


@record(frozen=True)
class Inferred:
    """The newest and the oldest torch that a project is for.

    ``problems`` are files with what is wrong with them; ``files`` were read, and ``folders`` looked
    into.
    """

    target: Torch = field(default_factory=lambda: Torch(NEWEST_TORCH, _NEWEST))
    oldest: Torch | None = None
    problems: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


class _Search:
    """Reads the files of a project, from a folder upwards."""

    def __init__(self, root: Path, top: Path | None) -> None:
        self.problems: dict[Path, str] = {}
        self.files: dict[str, None] = {}
        self.folders: dict[str, None] = {}
        self.statements: list[Statement] = []
        self.mentions: list[Statement] = []
        self.locked: dict[Path, list[Version]] = {}
        for folder in _folders(root, top):
            self._look_into(folder)
            if self.statements and self.locked:
                break

    def _look_into(self, folder: Path) -> None:
        """Read a folder; what a nearer one said holds."""
        try:
            names = sorted(os.listdir(folder))  # noqa: PTH208 (names are all that is wanted)
        except OSError:
            return
        self.folders[str(folder)] = None
        if not self.statements:
            self.statements = self._statements(folder, names)
        if not self.mentions:
            self.mentions = [
                said
                for name in names
                if _matches(name, _READMES)
                for said in self._read(folder / name, readme)
            ]
        if not self.locked:
            found = {
                folder / name: self._read(folder / name, locked) for name in LOCKS if name in names
            }
            self.locked = {file: versions for file, versions in found.items() if versions}

    def _statements(self, folder: Path, names: Sequence[str]) -> list[Statement]:
        found: list[Statement] = []
        for name, read in METADATA.items():
            if name in names:
                found += self._read(folder / name, read)
        for name in names:
            if _matches(name, _ENVIRONMENTS):
                found += self._read(folder / name, environment)
        if _REQUIREMENTS in names:
            self.folders[str(folder / _REQUIREMENTS)] = None
        for file in _requirement_files(folder, names):
            found += self._read(file, self._requirements)
        return found

    def _requirements(self, file: Path) -> list[Statement]:
        read = listed(file)
        self.files |= dict.fromkeys(map(str, read.files))
        return [statement(file, Kind.INSTALLED, read.all)] if read.all else []

    def _read(self, file: Path, read: Callable[[Path], list[_Found]]) -> list[_Found]:
        if not is_file(file):
            return []
        self.files[str(file)] = None
        try:
            return read(file)
        except BoundsError as error:
            self.problems[file] = str(error)
            return []


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def may_speak(path: str) -> bool:
    """Whether a file, given by its path with slashes, is one of those that are read."""
    folder, _, name = path.rpartition("/")
    nearest = f"{folder.rpartition('/')[2]}/{name}"
    return any(fnmatch(nearest if "/" in pattern else name, pattern) for pattern in PATTERNS)


def infer(root: Path, installed: Installed, top: Path | None = None) -> Inferred:
    """What the files around ``root`` say.

    The folders up to that of the repository are looked into, or up to ``top``.
    """
    search = _Search(root, top)
    declared = _declared(search)
    there = installed()
    target = _target(search, declared, there)
    oldest = _oldest(search, declared)
    if target.version < COMPILING_TORCH:
        stated = f"torch {shown(target.version)}, {target.source}, has no `torch.compile`"
        oldest = oldest or target
        target = Torch(NEWEST_TORCH, stated)
    elif oldest is None and not search.locked and (there is None or target != Torch(*there)):
        oldest = Torch(min(UNSTATED_TORCH, target.version), UNSTATED)
    if oldest is not None and oldest.version > target.version:
        oldest = Torch(target.version, target.source)
    problems = tuple((_shown(file), text) for file, text in search.problems.items())
    return Inferred(target, oldest, problems, (*search.files,), (*search.folders,))


_Tiers = list[list[Statement]]


def _declared(search: _Search) -> _Tiers:
    """The statements by rank: of the package itself, or its extras; then of requirements files.

    What contradicts a rank before it counts for nothing.
    """
    ranks = {kind: [s for s in search.statements if s.kind is kind] for kind in Kind}
    first = ranks[Kind.NEEDED] or ranks[Kind.OPTIONAL]
    second = [s for s in ranks[Kind.INSTALLED] if not first or _overlaps(search, s, first)]
    return [tier for tier in (first, second) if tier]


def _overlaps(search: _Search, one: Statement, others: Sequence[Statement]) -> bool:
    if any(_allows(others, version) for version in one.allowed.candidates):
        return True
    other = others[0]
    search.problems.setdefault(
        one.file, f"`{one.allowed.text}` contradicts `{other.allowed.text}` in {other.file.name}"
    )
    return False


def _allows(statements: Iterable[Statement], version: Version) -> bool:
    return any(s.allowed.allows(version) for s in statements)


def _target(search: _Search, declared: _Tiers, installed: tuple[Version, str] | None) -> Torch:
    for file, versions in list(search.locked.items()):
        fitting = [v for v in versions if all(_allows(tier, v) for tier in declared[:1])]
        if fitting:
            return Torch(fitting[-1], f"locked in {file.name}")
        del search.locked[file]
        said = declared[0][0]
        search.problems.setdefault(
            file, f"locks torch {shown(versions[-1])}, which {_source(said)} does not allow"
        )
    usual = Torch(NEWEST_TORCH, _NEWEST) if installed is None else Torch(*installed)
    if all(_allows(tier, usual.version) for tier in declared):
        return usual
    return _newest_allowed(declared)


def _newest_allowed(declared: _Tiers) -> Torch:
    """The newest release that every rank allows, and what allows no newer one."""
    said = [s for tier in declared for s in tier]
    named = {version for s in said for version in s.allowed.candidates}
    version = max(v for v in named if all(_allows(tier, v) for tier in declared))
    limiting = [s for s in said if s.allowed.upper == version]
    return Torch(version, _source(limiting[-1]) if limiting else _NEWEST)


def _oldest(search: _Search, declared: _Tiers) -> Torch | None:
    """The weakest lower bound of the first rank that has one, else the oldest that is locked.

    Else it is what a README names.
    """
    for tier in declared:
        speaking = [s for s in tier if not s.allowed.says_nothing]
        bounds = [(s.allowed.lower, s) for s in speaking]
        lower = [(version, s) for version, s in bounds if version is not None]
        if lower and len(lower) == len(bounds):
            version, said = min(lower, key=lambda pair: pair[0])
            return Torch(version, _source(said))
    for file, versions in search.locked.items():
        return Torch(versions[0], f"locked in {file.name}")
    named = [(said.allowed.candidates[0], said) for said in search.mentions]
    if not named:
        return None
    version, said = min(named, key=lambda pair: pair[0])
    return Torch(version, _source(said))


def _source(said: Statement) -> str:
    return f"`{said.allowed.text}` in {said.file.name}"


def _requirement_files(folder: Path, names: Iterable[str]) -> list[Path]:
    """The requirements files in a folder, and in its folder of that name."""
    files = [folder / name for name in names if _matches(name, _LISTS)]
    return [*files, *sorted((folder / _REQUIREMENTS).glob("*.txt"))]


def _folders(root: Path, top: Path | None) -> list[Path]:
    """Where a project's files may be: upwards to the repository, or else to the first metadata."""
    root = root.resolve()
    above = [root, *root.parents]
    if top is not None:
        return above[: above.index(top.resolve()) + 1]
    for number, folder in enumerate(above):
        if exists(folder / _REPOSITORY):
            return above[: number + 1]
    without = [*takewhile(lambda one: not any(is_file(one / n) for n in METADATA), above)]
    return above[: len(without) + 1] if len(without) < len(above) else [root]


def _shown(file: Path) -> str:
    """A file's name for people: from the current folder, or in full."""
    try:
        return str(file.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(file)
