"""Find, fix and verify two small programs, in a copy that is thrown away."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent.parent / "fixtures" / "programs"
NAMES = ("conv_net.py", "weighted_loss.py")
FAILED = 2


def main() -> int:
    """Run the demonstration; 0 when every command worked and the comparison holds."""
    with tempfile.TemporaryDirectory() as folder:
        before, work = Path(folder) / "before", Path(folder) / "work"
        for copy in (before, work):
            copy.mkdir()
            for name in NAMES:
                shutil.copy(PROGRAMS / name, copy)
        targets = [f"{name}:make" for name in NAMES]
        static = (
            tclint(work, "check", *NAMES),
            tclint(work, "fix", "--unsafe-fixes", "--diff", *NAMES),
            tclint(work, "fix", "--unsafe-fixes", *NAMES),
        )
        compared = tclint(work, "verify", *targets, "--before", "../before")
        return FAILED if FAILED in static else compared


def tclint(folder: Path, *arguments: str) -> int:
    """Run a tclint command and show it the way a shell would; give its exit status."""
    print(f"\n$ tclint {' '.join(arguments)}", flush=True)
    command = [sys.executable, "-m", "tclint", *arguments]
    return subprocess.run(command, cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
