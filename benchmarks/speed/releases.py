"""tclint as it was: commits, compiled and installed beside each other, to be timed in one run."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

RELEASES = ("875ee99", "821f731c", "204e33d0", "df847f4c")
"""A commit for each release, and for what cost much; the newest comes last."""
BINARIES = "Scripts" if sys.platform == "win32" else "bin"


def installed(commit: str, work: Path) -> Path:
    """The program of a commit's compiled wheel, which takes some minutes to build.

    Raises:
        CalledProcessError: there is no such commit, or it cannot be built.
    """
    home = work / "releases" / commit
    program = home / BINARIES / "tclint"
    if not program.exists():
        with tempfile.TemporaryDirectory() as place:
            source, wheels = Path(place, "source"), Path(place, "wheels")
            source.mkdir()
            archive = subprocess.run(["git", "archive", commit], check=True, stdout=subprocess.PIPE)
            subprocess.run(["tar", "x", "-C", str(source)], check=True, input=archive.stdout)
            build = ["pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(wheels)]
            environment = {**os.environ, "TCLINT_COMPILE": "1"}
            command = [sys.executable, "-m", *build, str(source)]
            subprocess.run(command, check=True, env=environment)
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
            pip = [str(home / BINARIES / "python"), "-m", "pip", "install", "-q"]
            subprocess.run([*pip, *map(str, wheels.glob("*.whl"))], check=True)
    return program


def date_of(commit: str) -> str:
    """The day of a commit."""
    command = ["git", "log", "-1", "--format=%cs", commit]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return told.stdout.strip()
