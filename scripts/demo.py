"""Find, fix and verify two small programs, in a copy that is thrown away."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent.parent / "fixtures" / "programs"
NAMES = ("conv_net.py", "weighted_loss.py")
FOUND = 1


def main() -> int:
    """Run the demonstration; 0 when every command ended as it should."""
    with tempfile.TemporaryDirectory() as folder:
        before, work = Path(folder) / "before", Path(folder) / "work"
        for copy in (before, work):
            copy.mkdir()
            for name in NAMES:
                shutil.copy(PROGRAMS / name, copy)
        targets = [f"{name}:make" for name in NAMES]
        return max(
            tclint(work, "check", *NAMES, expect=FOUND),
            tclint(work, "fix", "--unsafe-fixes", "--diff", *NAMES, expect=FOUND),
            tclint(work, "fix", "--unsafe-fixes", *NAMES),
            tclint(work, "verify", *targets, "--before", "../before"),
        )


def tclint(folder: Path, *arguments: str, expect: int = 0) -> int:
    """Run a tclint command and show it the way a shell would; 0 if it ended as expected."""
    print(f"\n$ tclint {' '.join(arguments)}", flush=True)
    command = [sys.executable, "-m", "tclint", *arguments]
    status = subprocess.run(command, cwd=folder, check=False).returncode
    return 0 if status == expect else 1


if __name__ == "__main__":
    sys.exit(main())
