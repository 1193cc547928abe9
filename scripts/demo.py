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
    """Run the demonstration; 0 when the repaired programs hold what they promise."""
    with tempfile.TemporaryDirectory() as folder:
        before, work = Path(folder) / "before", Path(folder) / "work"
        for copy in (before, work):
            copy.mkdir()
            for name in NAMES:
                shutil.copy(PROGRAMS / name, copy)

        print("Two programs that torch.compile cannot digest. What costs, and where?")
        tclint(work, "check", *NAMES, expect=FOUND)
        print("What would be rewritten?")
        tclint(work, "fix", "--unsafe-fixes", "--diff", *NAMES, expect=FOUND)
        print("Rewrite it, then compile both versions and compare.")
        tclint(work, "fix", "--unsafe-fixes", *NAMES)
        targets = [f"{name}:make" for name in NAMES]
        return tclint(work, "verify", *targets, "--before", "../before")


def tclint(folder: Path, *arguments: str, expect: int = 0) -> int:
    """Run a tclint command the way a shell would show it."""
    print(f"\n$ tclint {' '.join(arguments)}", flush=True)
    command = [sys.executable, "-m", "tclint", *arguments]
    status = subprocess.run(command, cwd=folder, check=False).returncode
    print(flush=True)
    return 0 if status in (0, expect) else status


if __name__ == "__main__":
    sys.exit(main())
