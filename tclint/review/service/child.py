"""Runs programs that handle what strangers wrote: bounded, alone, without our secrets."""

from __future__ import annotations

import logging
import os
import signal
import site
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tclint.review.service.bounded import bounded
from tclint.review.service.settings import Bounds

LOG: Final = logging.getLogger("tclint.review")
_COMPLAINT_BYTES: Final = 2000
_ANSWER_BYTES: Final = 64 * 1024 * 1024
_KEPT: Final = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR")


class ChildError(Exception):
    """The program failed, took too long or used too much; the message is for everybody."""


def run_bounded(
    argv: Sequence[str],
    folder: Path,
    bounds: Bounds,
    *,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> bytes:
    """Run a program in a folder that is also its home, and return what it printed.

    Raises:
        ChildError: it did not end well.
    """
    command = bounded(
        argv, memory=bounds.memory_bytes, file=bounds.pack_bytes, seconds=bounds.seconds
    )
    with (
        tempfile.TemporaryFile(dir=folder) as source,
        tempfile.TemporaryFile(dir=folder) as output,
        tempfile.TemporaryFile(dir=folder) as complaints,
    ):
        source.write(stdin)
        source.seek(0)
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**_environment(folder), **(environment or {})},
            stdin=source,
            stdout=output,
            stderr=complaints,
            start_new_session=True,
        )
        try:
            code = process.wait(bounds.seconds)
        except subprocess.TimeoutExpired as error:
            raise ChildError(f"it took longer than {bounds.seconds:g} seconds") from error
        finally:
            _end(process)
        if code != 0:
            complaints.seek(0)
            text = complaints.read(_COMPLAINT_BYTES).decode("utf-8", "replace")
            # For the log alone: it may tell about the machine, and a stranger may have written it.
            LOG.warning("%s: %s", Path(argv[0]).name, " ".join(text.split()))
            raise ChildError(_why(code))
        if output.seek(0, os.SEEK_END) > _ANSWER_BYTES:
            raise ChildError(f"it printed more than {_ANSWER_BYTES:,} bytes")
        output.seek(0)
        return output.read()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program and all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        process.wait()


def _why(code: int) -> str:
    if code < 0:
        return f"it was ended by {signal.Signals(-code).name}"
    return f"it ended with exit code {code}"


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {
        **kept,
        "HOME": str(folder),
        "PYTHONUSERBASE": site.getuserbase(),  # tclint itself may be there
        "TMPDIR": str(folder),
        "XDG_CACHE_HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
    }
