"""Reading files that somebody else put there.

A name says nothing of what is behind it: a repository can carry links, and a folder that others
write to can hold pipes, devices and files without end. Whoever reads one waits for ever, or until
the memory is full. So what is not a regular file, or is larger than it has any reason to be, is
refused here, and everything that tclint reads and did not make a moment ago is read here.
"""

from __future__ import annotations

import os
from errno import EFBIG, EINVAL, EISDIR
from stat import S_ISDIR, S_ISREG

TYPE_CHECKING = False  # see tclint.cache.envelope
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Final

LARGEST_TEXT: Final = 16 * 2**20
"""Bytes of what people write by hand: sources, configurations, lists of what to ignore."""
# A pipe that takes a regular file's place after the look at it must not block.
_READ: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_CHUNK: Final = 1 << 16

Version = tuple[int, int, int, int]
"""When a file was written and when it changed, in nanoseconds, its length in bytes and its number.

Anybody may set the first time back, the second nobody. (Windows knows no second one: there it is
when the file was made.) What is moved into another's place has another number.
"""
SIZE: Final = 2
"""Where in a version the length is; the times are before it."""


def version_of(path: str | Path) -> Version | None:
    """The version of a file or a folder on disk; None when there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116 (thousands of files)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def exists(path: str | Path) -> bool:
    """Whether there is something; nothing has a name that is too long, or one with a NUL."""
    return os.path.exists(path)  # noqa: PTH110 (a `Path` raises)


def is_file(path: str | Path) -> bool:
    """Whether there is such a file, as :func:`exists` says."""
    return os.path.isfile(path)  # noqa: PTH113 (a `Path` raises)


def is_dir(path: str | Path) -> bool:
    """Whether there is such a folder, as :func:`exists` says."""
    return os.path.isdir(path)  # noqa: PTH112 (a `Path` raises)


def expanded(path: str) -> str:
    """The path with the user's folder for ``~``, where there is such a user."""
    return os.path.expanduser(path)  # noqa: PTH111 (a `Path` raises)


class TooLargeError(OSError):
    """A file has more bytes than it has any reason to have."""


def read_bytes(path: str | Path, largest: int = LARGEST_TEXT) -> bytes:
    """The content of a regular file; links to one are followed.

    Raises:
        TooLargeError: it has more than ``largest`` bytes.
        OSError: it cannot be read, or is no regular file, or nothing can have that name.
    """
    try:
        status = os.stat(path)  # noqa: PTH116 (to open a device can do something)
    except ValueError as error:  # a NUL, or half of a character
        raise OSError(EINVAL, "no file can have that name", str(path)) from error
    _require_regular(status, path)
    return _content(os.open(path, _READ), path, largest)


def read_text(path: str | Path, largest: int = LARGEST_TEXT, errors: str = "strict") -> str:
    """The content of a regular file that is UTF-8; all its lines end with a newline.

    ``errors`` says what becomes of other bytes, as in ``bytes.decode``.

    Raises:
        TooLargeError: it has more than ``largest`` bytes.
        OSError: it cannot be read, or is no regular file, or nothing can have that name.
        UnicodeDecodeError: it is not UTF-8.
    """
    text = read_bytes(path, largest).decode("utf-8", errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_own(path: str, largest: int) -> bytes:
    """The content of a file that tclint wrote in an earlier run, or that is made to look so.

    It never was a link, and it belongs to us, to the system's administrator, or to whom the folder
    belongs that its folder is in: the project's owner.

    Raises:
        TooLargeError: it has more than ``largest`` bytes.
        OSError: it cannot be read, or is not such a file.
    """
    status = os.lstat(path)
    _require_regular(status, path)
    if not _is_trusted(status.st_uid, path):
        raise OSError(EINVAL, "it belongs to somebody else", path)
    return _content(os.open(path, _READ | _NO_LINK), path, largest)


def _is_trusted(owner: int, path: str) -> bool:
    if not hasattr(os, "geteuid") or owner in (os.geteuid(), 0):
        return True
    project = os.path.dirname(os.path.dirname(os.path.abspath(path)))  # noqa: PTH100, PTH120
    return os.stat(project).st_uid == owner  # noqa: PTH116


def _require_regular(status: os.stat_result, path: str | Path) -> None:
    if S_ISDIR(status.st_mode):
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(path))
    if not S_ISREG(status.st_mode):
        raise OSError(EINVAL, "it is not a regular file", str(path))


def _content(descriptor: int, path: str | Path, largest: int) -> bytes:
    try:
        status = os.fstat(descriptor)
        _require_regular(status, path)
        if status.st_size > largest:
            raise TooLargeError(EFBIG, too_large(status.st_size, largest), str(path))
        # What the system makes up as it is read has no size.
        parts, left, step = [], largest + 1, max(status.st_size + 1, _CHUNK)
        while left > 0 and (part := os.read(descriptor, min(left, step))):
            parts.append(part)
            left -= len(part)
        if left <= 0:
            raise TooLargeError(EFBIG, too_large(largest + 1, largest), str(path))
        return b"".join(parts)
    finally:
        os.close(descriptor)


def too_large(size: int, largest: int) -> str:
    """What to say of a size."""
    return f"{size / 2**20:,.1f} MB is over the limit of {largest / 2**20:,.0f} MB"
