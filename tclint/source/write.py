"""Writing files so that at every moment each holds either the old text or the new one."""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import shutil
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from tclint.files import LARGEST_TEXT, read_bytes
from tclint.records import record
from tclint.regexes import regex
from tclint.scratch import locked
from tclint.source.decode import decode
from tclint.source.errors import SourceError, reason

_BESIDE: Final = ".tclint-"
_OLD: Final = ".old"
_LEFT: Final = regex(rf"{re.escape(_BESIDE)}[a-z0-9_]{{8}}(?:{re.escape(_OLD)})?")
_LARGEST: Final = 2 * LARGEST_TEXT
"""Bytes of a file that is written: a fix may make one of the largest longer."""
_ABANDONED: Final = 3_600
"""Seconds after which what was not written to its end counts as left, where locks do not tell."""


@record(frozen=True)
class NewText:
    """What an existing file is to hold; ``before`` is what it must still hold, if that matters."""

    path: Path
    text: str
    encoding: str
    before: str | None = None


def write_text(path: Path, text: str, encoding: str) -> None:
    """Replace the content of one existing file; see :func:`write_all`."""
    write_all([NewText(path, text, encoding)])


def write_all(texts: Sequence[NewText]) -> tuple[Path, ...]:
    """Replace the contents of existing files: all of them, or none.

    Line ends are written as they are in the texts; mode, owner and attributes stay; a symbolic link
    stays one, and the file that it points to changes. Of a file with several names (hard links) the
    others keep the old text: where caches of packages and backups are made of such names, they are
    not to change. Every new text is on the disk before the first file is replaced, and what was
    replaced is put back if a later one cannot be.

    Returns:
        The files of which other names keep the old text.

    Raises:
        SourceError: a file could not be written, or no longer holds its ``before``.
    """
    targets: list[Path] = []
    for text in texts:
        with _named(text.path):
            # Path.resolve raises RuntimeError on a loop of links; this raises OSError.
            targets.append(Path(os.path.realpath(text.path, strict=True)))
    swaps: list[_Swap] = []
    with _alone(target.parent for target in targets):
        try:
            for text, target in zip(texts, targets, strict=True):
                # What is written beside a file and not yet in the list would be left there.
                with _named(text.path), _undisturbed():
                    swaps.append(_prepare(text, target))
            with _undisturbed():
                _carry_out(swaps)
        finally:
            for swap in swaps:
                swap.tidy()
    return tuple(swap.new.path for swap in swaps if swap.has_other_names)


def sweep(folders: Iterable[str]) -> None:
    """Remove what killed runs of ours have left beside the files of these folders.

    A folder in which another run writes is left alone, and so are files of other people.
    """
    for folder in folders:
        with locked(Path(folder)) as is_ours:
            _sweep(Path(folder), is_ours=is_ours)


def _carry_out(swaps: Sequence[_Swap]) -> None:
    """Replace all files, or none, and leave nothing beside them."""
    try:
        for swap in swaps:
            with _named(swap.new.path):
                swap.check()
        for swap in swaps:
            with _named(swap.new.path):
                swap.carry_out()
    except BaseException:
        for swap in reversed(swaps):
            swap.undo()
        raise
    finally:
        for swap in swaps:
            swap.tidy()


@record(frozen=True)
class _Swap:
    """A new text beside the file that it will replace; the old file stays until all is done."""

    new: NewText
    target: Path
    beside: Path
    has_other_names: bool

    @property
    def _old(self) -> Path:
        return self.beside.with_name(f"{self.beside.name}{_OLD}")

    def check(self) -> None:
        """Make sure that nobody else wrote the file in the meantime."""
        before = self.new.before
        if before is None:
            return
        data = read_bytes(self.target, _LARGEST)
        if data != read_bytes(self.beside, _LARGEST) and not _holds(data, before, self.new):
            message = "not written: the file has changed in the meantime; run tclint again"
            raise SourceError(self.new.path, message)

    def carry_out(self) -> None:
        """Put the new file into the old one's place, atomically."""
        try:
            os.link(self.target, self._old)
        except OSError:  # a file system without hard links, or somebody else's file
            shutil.copy2(self.target, self._old)
        self.beside.replace(self.target)

    def undo(self) -> None:
        """Put the old file back, if it was replaced: then nothing is left beside it."""
        if self._old.exists() and not self.beside.exists():
            self._old.replace(self.target)

    def tidy(self) -> None:
        """Leave nothing beside the file."""
        self.beside.unlink(missing_ok=True)
        self._old.unlink(missing_ok=True)


def _prepare(new: NewText, target: Path) -> _Swap:
    data = encoded(new, lambda: read_bytes(target, _LARGEST))
    _require_faithful(new.path, target, new.encoding)
    has_other_names = target.stat().st_nlink > 1
    return _Swap(new, target, _write_beside(target, data), has_other_names)


def encoded(new: NewText, old: Callable[[], bytes]) -> bytes:
    """The bytes of a new text; those of a notebook are its old ones outside the edited lines.

    Raises:
        SourceError: the text cannot be written in the file's encoding.
    """
    if new.path.suffix == ".ipynb":
        from tclint.source.notebook import with_text

        return with_text(old(), new.text)
    try:
        return new.text.encode(new.encoding)
    except UnicodeEncodeError as error:
        message = f"cannot write: {new.text[error.start]!r} does not exist in {new.encoding}"
        raise SourceError(new.path, message) from error


def _holds(data: bytes, text: str, new: NewText) -> bool:
    if new.path.suffix == ".ipynb":
        return decode(new.path, data).text == text
    return data == text.encode(new.encoding)


def _require_faithful(path: Path, target: Path, encoding: str) -> None:
    """Refuse encodings that would change bytes nobody edited: several spellings of one text."""
    if codecs.lookup(encoding).name in {"utf-8", "utf-8-sig", "ascii", "iso8859-1"}:
        return
    before = read_bytes(target, _LARGEST)
    try:
        faithful = before.decode(encoding).encode(encoding) == before
    except UnicodeError:
        faithful = False
    if not faithful:
        message = f"cannot write: {encoding} would not keep the untouched bytes; use UTF-8"
        raise SourceError(path, message)


def _write_beside(target: Path, data: bytes) -> Path:
    """Write ``data`` to a new file in the same folder that is like ``target`` in all else.

    Its name says whose it is, and is short: a file system may not have room for a longer one than
    that of the target.
    """
    status = target.stat()
    if not os.access(target, os.W_OK):
        raise PermissionError(0, "the file is read-only")
    descriptor, name = tempfile.mkstemp(prefix=_BESIDE, dir=target.parent)
    beside = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        _take_over(beside, target, status)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return beside


def _take_over(beside: Path, target: Path, status: os.stat_result) -> None:
    """Give the new file the old one's owner and attributes, where we may, and its mode."""
    if hasattr(os, "chown"):
        # Only root can give files away; for others the owner is the same already.
        with contextlib.suppress(PermissionError):
            os.chown(beside, status.st_uid, status.st_gid)
    if sys.platform == "linux":
        # Lists of who may do what are among them; a file system may have none.
        with contextlib.suppress(OSError):
            for name in os.listxattr(target):
                with contextlib.suppress(OSError):
                    os.setxattr(beside, name, os.getxattr(target, name))
    beside.chmod(status.st_mode & 0o7777)


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Say of an error of the operating system which file it is about."""
    try:
        yield
    except OSError as error:
        raise SourceError(path, f"cannot write: {reason(error)}") from error


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Let Ctrl-C and polite kills wait for the milliseconds in which files are replaced."""
    if sys.platform == "win32":
        yield
        return
    waiting = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, waiting)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _alone(folders: Iterable[Path]) -> Iterator[None]:
    """Keep other runs from writing there, from the first look at a file to its replacement.

    A file system without locks, or a folder that may not be listed, has to do without.
    """
    with contextlib.ExitStack() as held:
        for folder in sorted(set(folders)):
            is_ours = held.enter_context(locked(folder, wait=True))
            _sweep(folder, is_ours=is_ours)
        yield


def _sweep(folder: Path, *, is_ours: bool) -> None:
    """Remove what killed runs have left: nobody who lives writes where the folder is ours."""
    with contextlib.suppress(OSError), os.scandir(folder) as listing:
        for entry in [*listing]:
            if _LEFT.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    _remove(entry, is_ours=is_ours)


def _remove(entry: os.DirEntry[str], *, is_ours: bool) -> None:
    status = entry.stat(follow_symlinks=False)
    is_own = not hasattr(os, "geteuid") or os.geteuid() in (0, status.st_uid)
    # Of the old file the time says nothing; that of its last change is when it got this name.
    written = max(status.st_mtime, status.st_ctime)
    is_left = is_ours or time.time() - written > _ABANDONED
    if stat.S_ISREG(status.st_mode) and is_own and is_left:
        Path(entry.path).unlink(missing_ok=True)
