"""Requirements files of pip, with those that they include."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tclint.files import is_file
from tclint.records import record
from tclint.regexes import regex
from tclint.torch_bounds.releases import BoundsError
from tclint.torch_bounds.statements import Requirement, requirement
from tclint.torch_bounds.text import read_text

_INCLUDE: Final = regex(r"(?P<option>-r|-c|--requirement|--constraint)(?:\s+|=|(?=\S))(?P<file>.+)")
_LINE: Final = regex(r"[A-Za-z0-9_.\-/\\$~{\"'].*|\w:\\.*")
_COMMENT: Final = regex(r"(?:^|\s+)#.*")
_OPTIONS: Final = regex(r"\s+--?[a-zA-Z].*")


@record(frozen=True)
class Listed:
    """The requirements of torch in a file and in those it includes, and the files."""

    needed: tuple[Requirement, ...]
    constraints: tuple[Requirement, ...]
    files: tuple[Path, ...]

    @property
    def all(self) -> tuple[Requirement, ...]:
        """What counts together: constraints say nothing unless torch is wanted."""
        return (*self.needed, *self.constraints) if self.needed else ()


def listed(file: Path) -> Listed:
    """Read a requirements file.

    Raises:
        BoundsError: a line of torch cannot be understood, or a file cannot be read.
    """
    needed: list[Requirement] = []
    constraints: list[Requirement] = []
    files: dict[Path, None] = {}
    pending = [(file, needed)]
    while pending:
        current, found = pending.pop(0)
        if current in files:
            continue
        files[current] = None
        where = "" if current == file else f"{current.name}: "
        for number, line in _lines(read_text(current)):
            include = _INCLUDE.fullmatch(line)
            if include is None:
                found += _requirement(line, f"{where}line {number}")
                continue
            named = include["file"].strip().strip("\"'")
            if "://" in named:
                continue
            path = current.parent / named
            if not is_file(path):
                raise BoundsError(f"{where}line {number}: there is no file {named}")
            pending.append((path, constraints if "c" in include["option"][:3] else found))
    return Listed(tuple(needed), tuple(constraints), tuple(files))


def _requirement(line: str, where: str) -> list[Requirement]:
    if _LINE.fullmatch(line) is None:
        raise BoundsError(f"{where}: `{line[:60]}` is not a requirement")
    try:
        found = requirement(_OPTIONS.sub("", line))
    except BoundsError as error:
        raise BoundsError(f"{where}: {error}") from error
    return [] if found is None else [found]


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, joined where a backslash says so, without comments."""
    joined, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        start = start or number
        if line.endswith("\\") and not line.lstrip().startswith("#"):
            joined += line[:-1]
            continue
        whole = _COMMENT.sub("", joined + line).strip()
        if whole:
            yield start, whole
        joined, start = "", 0
    if joined.strip():
        yield start, joined.strip()
