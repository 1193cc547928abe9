"""Children of ``tclint verify`` that have torch imported when they start.

The fixture ``copied_children`` makes tests use them. Tests of what a child does to itself or to its
machine do without.
"""

from __future__ import annotations

import functools
import os
import subprocess
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tclint.verify import process
from tests.forks import Forkable, Forked, read_when_imported

if TYPE_CHECKING:
    import pytest

_HAS_GPU = Path("/dev/nvidia0").exists()
"""What has looked at a GPU cannot be copied."""


def copy_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start children as copies while the patch lasts."""
    if not _HAS_GPU and hasattr(os, "fork"):
        stand_in = types.SimpleNamespace(**{**vars(subprocess), "Popen": _start})
        monkeypatch.setattr(process, "subprocess", stand_in)


def prepare() -> None:
    """Start what children are copied of, for those that have the settings of this process."""
    _ready(read_when_imported(process._environment(Path(), None)))


def _start(command: list[str], **how: Any) -> Forked | subprocess.Popen[bytes]:
    environment = how["env"]
    if command[1:3] != ["-m", "tclint.verify.worker"]:
        return subprocess.Popen(command, **how)
    ready = _ready(read_when_imported(environment))
    pipes = [os.pipe() for _ in range(3)]
    (stdin, gives), (takes, stdout), (hears, stderr) = pipes
    try:
        streams = (stdin, stdout, stderr)
        child = ready.start(
            "tests.verify_worker", command[3:], streams, how["cwd"], environment, how["pass_fds"]
        )
    finally:
        for one in streams:
            os.close(one)
    child.stdin, child.stdout = os.fdopen(gives, "wb"), os.fdopen(takes, "rb")
    child.stderr = os.fdopen(hears, "rb")
    return child


@functools.cache
def _ready(settings: tuple[tuple[str, str], ...]) -> Forkable:
    """A process that has imported torch with these settings."""
    return Forkable(["tests.verify_worker"], os.environ | dict(settings), shared=True)
