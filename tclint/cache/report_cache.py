"""A run that asks what an earlier one did, while nothing has changed: its report is printed again.

The cache of findings spares the analysis; what is left is to import all that reads the command
line, the configuration and the rules, and that takes longest then. So this comes before it, and
imports next to nothing. When in doubt there is no answer, and the run takes place.
"""

from __future__ import annotations

import os
import sys

from tclint import __version__
from tclint.cache.envelope import FOLDER, LARGEST, REPORT, UNUSABLE, unpacked
from tclint.files import read_own, version_of

TYPE_CHECKING = False  # see tclint.cache.envelope
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Final, TextIO

ENDINGS: Final = (
    ".cfg",
    ".lock",
    ".toml",
    ".txt",
    ".yaml",
    ".yml",
    "requirements",
    "setup.py",
)
PARTS: Final = ("stamps", "there", "lists", "entries")
"""What a report rests on, as :func:`holds` takes it."""
EXITS: Final = {0: 0, 1: 1, 2: 2}
"""How a run that was remembered can have ended."""
VOLATILE: Final = frozenset({"_", "OLDPWD", "PWD", "SHLVL"})
"""Environment variables that shells change as they go."""


def replayed(arguments: Sequence[str]) -> int | None:
    """Print the report of an earlier run and return its exit code; None where there is none."""
    if arguments[:1] != ["check"]:
        return None
    try:
        name = question(arguments)
        for folder in _folders(arguments):
            if os.path.exists(f"{folder}/{name}"):  # noqa: PTH110
                known = unpacked(read_own(f"{folder}/{name}", LARGEST))
                if not holds(*(known[part] for part in PARTS)):
                    return None
                code = EXITS[known["code"]]
                text, aside = known["text"], known["aside"]
                _print(text, sys.stdout)
                _print(aside and aside + "\n", sys.stderr)
                return code
    except UNUSABLE:
        return None
    return None


def question(arguments: Sequence[str]) -> str:
    """The name of the file that answers a run: from all that a report depends on except files.

    Raises:
        OSError: the current folder does not exist any more.
        AttributeError: somebody closed standard output.
    """
    from hashlib import blake2b

    environment = sorted(item for item in os.environ.items() if item[0] not in VOLATILE)
    surroundings = [__version__, sys.version, sys.executable, sys.path, environment]
    streams = [_seen(stream) for stream in (sys.stdout, sys.stderr)]
    asked = repr([[*arguments], os.getcwd(), surroundings, streams])  # noqa: PTH109
    # The environment may hold secrets: only its digest is kept.
    return blake2b(asked.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest() + REPORT


def _seen(stream: TextIO) -> tuple[int, int, str] | None:
    """What a report knows of a terminal; None of all else."""
    if not stream.isatty():
        return None
    size = os.get_terminal_size(stream.fileno())
    return size.columns, size.lines, stream.encoding


def _folders(arguments: Sequence[str]) -> Iterator[str]:
    """Where the run's cache can be, short of reading the configuration."""
    named = os.environ.get("TCLINT_CACHE_DIR")
    for argument, following in zip(arguments, [*arguments[1:], ""], strict=True):
        if argument == "--cache-dir":
            named = following
        elif argument.startswith("--cache-dir="):
            named = argument.partition("=")[2]
    if named:
        yield named
        return
    paths = (argument for argument in arguments[1:] if os.path.exists(argument))  # noqa: PTH110
    for start in (next(paths, "."), "."):
        folder, below = os.path.realpath(start), ""
        while folder != below:
            yield os.path.join(folder, FOLDER)  # noqa: PTH118
            folder, below = os.path.dirname(folder), folder  # noqa: PTH120


def stamp(path: str) -> list[int] | None:
    """What changes whenever a file or the list of a folder does; None when there is none.

    The time of the last change cannot be set, unlike that of the last write; a file that is moved
    into another's place has another number.
    """
    version = version_of(path)
    return None if version is None else [*version]


def listing(folder: str) -> list[str]:
    """The files of a folder that may tell which torch the project is for, judged by their names."""
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(ENDINGS))  # noqa: PTH208
    except OSError:
        return []


def entries(folder: str) -> list[str]:
    """All that is in a folder, with a slash behind the names of folders."""
    try:
        with os.scandir(folder) as found:
            return sorted(one.name + "/" * one.is_dir() for one in found)
    except OSError:
        return []


def holds(
    stamps: Iterable[tuple[str, list[int] | None]],
    there: Iterable[tuple[str, bool]],
    lists: Iterable[tuple[str, list[str]]],
    within: Iterable[tuple[str, list[str]]],
) -> bool:
    """Whether files and folders are as they were, and others are there, or not, as before."""
    return (
        all(stamp(path) == known for path, known in stamps)
        and all(os.path.exists(path) == known for path, known in there)  # noqa: PTH110
        and all(listing(folder) == names for folder, names in lists)
        and all(entries(folder) == names for folder, names in within)
    )


def _print(text: str, stream: TextIO) -> None:
    """Write to a stream, past its buffer, which the run that would follow may not find."""
    encoding = stream.encoding if stream.isatty() else "utf-8"
    if not text.replace("\n", "").isprintable():
        # It has colours, or the folder is somebody else's, who wrote the report.
        from tclint.printable import printable

        text = printable(text, styled=True)
    data = memoryview(text.replace("\n", os.linesep).encode(encoding, "backslashreplace"))
    while data:
        data = data[os.write(stream.fileno(), data) :]
