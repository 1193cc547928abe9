"""Lock what tclint is worked on, audited and released with: each file by its hash.

    python -m scripts.lock [--upgrade]

keeps the versions that are locked, as far as ``pyproject.toml`` allows them; ``--upgrade`` takes
the newest. Needs ``uv``. Torch is in no lock: which of its wheels fits is up to the machine, with a
GPU or without one, and each has its own hash. What it needs from Python is locked with the rest.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "requirements"
EXTRAS = ("--extra=server", "--extra=review")
LOCKS = {
    "dev.txt": ("pyproject.toml", "-", *EXTRAS, "--extra=dev"),
    "run.txt": ("pyproject.toml", *EXTRAS, "--constraint=requirements/dev.txt"),
    "release.txt": ("--group=pyproject.toml:release",),
}
OPTIONS = (
    *("--universal", "--python-version=3.10", "--generate-hashes"),
    *("--no-header", "--no-emit-index-url", "--quiet"),
)
OF_A_MACHINE = re.compile(r"(cuda|nvidia)-|(torch|triton)=")
HEADER = "# Written by `make lock`; every file that may be installed is here with its hash.\n"


def main(more: list[str]) -> None:
    """Renew all locks."""
    for name, sources in LOCKS.items():
        path = FOLDER / name
        command = ["uv", "pip", "compile", *sources, *OPTIONS, *more, f"--output-file={path}"]
        torch = re.search(r"torch==\S+", (ROOT / "Makefile").read_text("utf-8"))
        assert torch is not None
        subprocess.run(command, cwd=ROOT, input=torch[0], text=True, check=True)
        path.write_text(HEADER + without_torch(path.read_text("utf-8")), encoding="utf-8")


def without_torch(lock: str) -> str:
    """The lock without torch, and without what only its builds for GPUs need."""
    entries = re.split(r"(?m)^(?=[\w#])", lock)
    return "".join(entry for entry in entries if not OF_A_MACHINE.match(entry))


if __name__ == "__main__":
    main(sys.argv[1:])
