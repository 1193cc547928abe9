"""The attack's runs of ``tclint``, as copies of a process that has everything imported.

The fixture ``copied_runs`` makes them so. ``python -m benchmarks.attack`` itself spawns each.
"""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.attack import command, kills
from benchmarks.attack.command import MEMORY, TCLINT, clean_environment
from tests.cli_runs import commands
from tests.forks import Forkable, Forked

if TYPE_CHECKING:
    import pytest

VERIFY = "tests.attack_verify"


def copy_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start copies while the patch lasts."""
    for module in (command, kills):
        monkeypatch.setattr(module, "started", _started)


def _started(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    *,
    memory: int = MEMORY,
    stdout: int = subprocess.PIPE,
) -> Forked:
    every = clean_environment() | dict(environment or {})
    modules, module = ((VERIFY,), VERIFY) if arguments[0] == "verify" else (commands(), "tclint")
    ready = _ready(modules, every.get("PYTHONDONTWRITEBYTECODE", ""))
    assert ready.would_start_like(every)
    (takes, out), (hears, err) = os.pipe(), os.pipe()
    given = os.open(os.devnull, os.O_RDONLY)
    try:
        streams = (given, out if stdout == subprocess.PIPE else stdout, err)
        beside = Path(TCLINT).parent
        process = ready.start(
            module, arguments, streams, folder, every, beside=beside, memory=memory
        )
    finally:
        for one in (given, out, err):
            os.close(one)
    process.stdout, process.stderr = os.fdopen(takes, "rb"), os.fdopen(hears, "rb")
    return process


@functools.cache
def _ready(modules: tuple[str, ...], no_bytecode: str) -> Forkable:
    more = {"PYTHONDONTWRITEBYTECODE": no_bytecode} if no_bytecode else {}
    # Copies of the other one share its connection to what copies their children.
    return Forkable(modules, clean_environment() | more, shared=VERIFY not in modules)
