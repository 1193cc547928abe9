"""The one place that runs Git, in repositories that somebody else made.

A repository's settings name programs: a watcher of files, filters of contents, drivers of
differences, ways to fetch what is missing. Whoever sends a folder with a ``.git`` in it chooses
them, and Git runs them as it pleases. So there are two ways to ask:

- About names (which commit a revision is, what is tracked) Git answers in the repository itself,
  since a branch's upstream is a setting as well. None of these questions looks at the contents of
  files, which is what filters and drivers are for; the rest is switched off.
- About contents it answers in a repository of ours, which has no settings, no hooks, no attributes
  and no references, and borrows nothing but the objects.

Nothing from outside the repository is fetched, asked or waited for, unless the caller says so.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO, Final

from tclint.errors import UserError
from tclint.files import exists
from tclint.records import record
from tclint.scratch import scratch
from tclint.source.errors import reason

SECONDS: Final = 120.0
QUICK: Final = 10.0
"""For questions that read settings alone: a pipe among those would be waited for without end."""
"""No honest answer takes longer."""
LARGEST: Final = 512 * 2**20
"""Bytes of an answer."""
_CHUNK: Final = 1 << 16
_SETTINGS: Final = {
    "core.fsmonitor": "",  # older ones take any word for the name of a program
    "core.hooksPath": os.devnull,
    "core.quotePath": "true",
    "core.untrackedCache": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
}
_SAID_BY_THE_USER: Final = (
    "GIT_CEILING_DIRECTORIES", "GIT_CONFIG_COUNT", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_KEY_",
    "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_VALUE_",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH",
)  # fmt: skip
"""How variables of Git begin that are kept: they say which folders are to be trusted, and where Git
is. All others change what it does, many of them by running something."""


class GitError(UserError):
    """Git could not answer; the message is for people."""


@record(frozen=True)
class Call:
    """How to run Git: where, with what in its environment and its settings, and for how long."""

    folder: Path
    environment: Mapping[str, str]
    settings: tuple[str, ...] = ()
    seconds: float = SECONDS
    largest: int = LARGEST


def in_repository(folder: Path, extra: Mapping[str, str] | None = None) -> Call:
    """How to ask about names: in the repository that a folder belongs to, if it is in one.

    Git would take a folder for a repository that only looks like one, with the settings that lie
    in it; the nearest ``.git`` is it.
    """
    here = Path(os.path.realpath(folder))
    top = next((each for each in (here, *here.parents) if exists(each / ".git")), here)
    return Call(top, {**environment(), **(extra or {})})


@contextmanager
def borrowing(call: Call) -> Iterator[Call]:
    """How to ask about contents: in a repository of ours, for as long as the block runs.

    Raises:
        GitError: there is no repository to borrow from.
    """
    kind, _, objects = ask(call, "rev-parse", "--show-object-format", "--git-path", "objects")[
        :-1
    ].partition(b"\n")
    place = os.path.realpath(call.folder / os.fsdecode(objects))
    with scratch("git") as ours:
        _make(ours, kind.decode("ascii"), place)
        yield Call(
            ours,
            {
                **{k: v for k, v in environment().items() if not k.startswith("GIT_CONFIG_")},
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_DIR": str(ours),
                "HOME": str(ours),
                "XDG_CONFIG_HOME": str(ours),
            },
            call.settings,
            call.seconds,
            call.largest,
        )


def _make(folder: Path, kind: str, objects: str) -> None:
    """An empty repository that finds its objects elsewhere."""
    for name in ("objects/info", "refs"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/none\n", "ascii")
    version = 0 if kind == "sha1" else 1
    settings = f"[core]\n\trepositoryFormatVersion = {version}\n\tbare = true\n"
    settings += "" if kind == "sha1" else f"[extensions]\n\tobjectFormat = {kind}\n"
    (folder / "config").write_text(settings, "ascii")
    (folder / "objects/info/alternates").write_bytes(quoted(os.fsencode(objects)) + b"\n")


def quoted(path: bytes) -> bytes:
    """A path as Git writes an unusual one, so that it may hold anything."""
    plain = {*range(0x20, 0x7F)} - {*b'"\\'}
    return b'"%b"' % b"".join(b"%c" % n if n in plain else b"\\%03o" % n for n in path)


def environment() -> dict[str, str]:
    """The environment without what makes Git do something else than it is asked to."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith("GIT_") or name.upper().startswith(_SAID_BY_THE_USER)
    }
    return {
        **kept,
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


def command(*arguments: str, settings: Sequence[str] = ()) -> tuple[str, ...]:
    """The command line: what is not wanted is switched off, then come the caller's settings.

    Raises:
        GitError: Git is not installed.
    """
    all_settings = (*(f"{name}={value}" for name, value in _SETTINGS.items()), *settings)
    options = (part for setting in all_settings for part in ("-c", setting))
    return (_program(os.environ.get("PATH", "")), "--no-pager", *options, *arguments)


@lru_cache(maxsize=8)
def _program(path: str) -> str:
    """Git, by its whole path: a file of that name in the current folder is somebody else's."""
    name = "git.exe" if sys.platform == "win32" else "git"
    for folder in os.get_exec_path({"PATH": path} if path else None):
        place = os.path.join(folder, name)  # noqa: PTH118
        is_file = os.path.isabs(folder) and os.path.isfile(place)  # noqa: PTH113, PTH117
        if is_file and os.access(place, os.X_OK):
            return place
    raise GitError("cannot run git: it is not installed, or not in PATH")


def ask(call: Call, *arguments: str, stdin: bytes = b"") -> bytes:
    """What Git answers.

    Raises:
        GitError: it failed, answers too much, or takes too long.
    """
    parts, left = [], call.largest
    with answering(call, *arguments, stdin=stdin) as output:
        while part := output.read(_CHUNK):
            parts.append(part)
            left -= len(part)
            if left < 0:
                raise GitError(f"git {arguments[0]} printed more than {call.largest:,} bytes")
    return b"".join(parts)


@contextmanager
def answering(call: Call, *arguments: str, stdin: bytes = b"") -> Iterator[IO[bytes]]:
    """Run Git and read its answer while it runs; it ends with the ``with``.

    Raises:
        GitError: it failed, or takes too long.
    """
    with _temporary(stdin) as source, _temporary(b"") as complaints:
        process = _started(call, arguments, source, complaints)
        assert process.stdout is not None
        late = threading.Event()
        seconds = min(call.seconds, QUICK) if arguments[0] == "rev-parse" else call.seconds
        timer = threading.Timer(seconds, _kill, (process, late))
        timer.start()
        try:
            yield process.stdout
            code = process.wait()
        finally:
            timer.cancel()
            process.kill()
            process.wait()
            process.stdout.close()
        if late.is_set():
            raise GitError(f"git {arguments[0]} took longer than {seconds:g} seconds")
        if code != 0:
            complaints.seek(0)
            message = complaints.read(_CHUNK).decode("utf-8", "replace").strip()
            raise GitError(message or f"git {arguments[0]} failed")


def _temporary(content: bytes) -> IO[bytes]:
    try:
        file = tempfile.TemporaryFile()  # noqa: SIM115 (the caller closes it)
        file.write(content)
        file.seek(0)
    except OSError as error:
        raise GitError(f"cannot run git: no space for temporary files: {reason(error)}") from error
    return file


def _started(
    call: Call, arguments: Sequence[str], stdin: IO[bytes], stderr: IO[bytes]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command(*arguments, settings=call.settings),
            cwd=call.folder,
            env=call.environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )
    except OSError as error:
        raise GitError(f"cannot run git in {call.folder}: {error.strerror}") from error


def _kill(process: subprocess.Popen[bytes], late: threading.Event) -> None:
    late.set()
    process.kill()
