"""Ask an installed wheel whether its analysis is compiled, and whether it works.

Run by its path, away from the sources: ``python scripts/wheel_check.py``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

CODE = """\
import torch


@torch.compile
def f(x: torch.Tensor):
    print(x)
    return x
"""


def main() -> int:
    """Print what was found; 0 if the wheel is what it should be."""
    from tclint.semantics import lattice

    compiled = str(lattice.__file__).endswith((".so", ".pyd"))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "net.py").write_text(CODE, encoding="utf-8")
        command = [sys.executable, "-m", "tclint", "check", "--output-format", "concise"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    found = "TCL120" in done.stdout
    print(f"{lattice.__file__}: {'compiled' if compiled else 'NOT COMPILED'}")
    print(done.stdout + done.stderr)
    return 0 if compiled and found else 1


if __name__ == "__main__":
    sys.exit(main())
