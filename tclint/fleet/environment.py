"""What an interpreter has installed, asked in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import field

from tclint.children import SAFE, code_command
from tclint.fleet.config import FleetError
from tclint.records import record

_SECONDS = 300
_LAST_WORDS = 300
_ASK = """
import importlib.metadata, importlib.util, json, os, sys
found = {}
for one in importlib.metadata.distributions():
    name = one.metadata["Name"]
    if name and name.lower() != "tclint-torch":
        found.setdefault(name.lower(), one.version)
import torch
gpus = []
if sys.argv[1] == "cuda" and torch.cuda.is_available():
    gpus = [torch.cuda.get_device_name(n) for n in range(torch.cuda.device_count())]
said = {"python": ".".join(map(str, sys.version_info[:3])), "torch": str(torch.__version__),
        "packages": found, "gpus": gpus}
print("\\n" + json.dumps(said))
"""


@record(frozen=True)
class Environment:
    """An interpreter: its version, its torch, its packages, and the GPUs that it sees."""

    python: str
    torch: str
    packages: Mapping[str, str] = field(default_factory=dict)
    gpus: tuple[str, ...] = ()


def ask_environment(python: str, device: str) -> Environment:
    """What ``python`` has; an empty name means the running interpreter.

    Raises:
        FleetError: there is no such interpreter, or it has no torch, or the GPUs are wanted and it
            sees none.
    """
    said = json.loads(_run(python, _ASK, device))
    gpus = tuple(said["gpus"])
    if device == "cuda" and not gpus:
        raise FleetError(f"{python or sys.executable} sees no GPU, and the fleet wants cuda")
    return Environment(said["python"], said["torch"], said["packages"], gpus)


def _run(python: str, code: str, argument: str) -> str:
    command = code_command(code, argument, python=python)
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_SECONDS,
            stdin=subprocess.DEVNULL, env={**os.environ, **SAFE},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FleetError(f"cannot run {command[0]}: {error}") from error
    if done.returncode:
        words = done.stderr.strip()[-_LAST_WORDS:]
        raise FleetError(f"{command[0]} cannot run targets: {words}")
    return done.stdout.rstrip("\n").rpartition("\n")[2]
