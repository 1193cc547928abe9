"""Writing a file so that at every moment it holds either the old text or the new one."""

from __future__ import annotations

import codecs
import contextlib
import os
import tempfile
from pathlib import Path

from tclint.source.errors import SourceError, reason


def write_text(path: Path, text: str, encoding: str) -> None:
    """Replace the content of an existing file, atomically.

    Line ends are written as they are in ``text``; mode and owner stay; a symbolic link stays one,
    and the file that it points to changes.

    Raises:
        SourceError: the file could not be written; it is then as it was before.
    """
    try:
        data = text.encode(encoding)
    except UnicodeEncodeError as error:
        message = f"cannot write: {text[error.start]!r} does not exist in {encoding}"
        raise SourceError(path, message) from error
    try:
        # Path.resolve raises RuntimeError on a loop of links; this raises OSError.
        target = Path(os.path.realpath(path, strict=True))
        _require_faithful(path, target, encoding)
        _replace(target, data)
    except OSError as error:
        raise SourceError(path, f"cannot write: {reason(error)}") from error


def _require_faithful(path: Path, target: Path, encoding: str) -> None:
    """Refuse encodings that would change bytes nobody edited: several spellings of one text."""
    if codecs.lookup(encoding).name in {"utf-8", "utf-8-sig", "ascii", "iso8859-1"}:
        return
    before = target.read_bytes()
    try:
        faithful = before.decode(encoding).encode(encoding) == before
    except UnicodeError:
        faithful = False
    if not faithful:
        message = f"cannot write: {encoding} would not keep the untouched bytes; use UTF-8"
        raise SourceError(path, message)


def _replace(target: Path, data: bytes) -> None:
    status = target.stat()
    if not os.access(target, os.W_OK):
        raise PermissionError(0, "the file is read-only")
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        _take_over(temporary, status)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _take_over(temporary: Path, status: os.stat_result) -> None:
    """Give the new file the old one's owner, where we may, and its mode."""
    if hasattr(os, "chown"):
        # Only root can give files away; for others the owner is the same already.
        with contextlib.suppress(PermissionError):
            os.chown(temporary, status.st_uid, status.st_gid)
    temporary.chmod(status.st_mode & 0o7777)
