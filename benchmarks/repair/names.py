"""Names that are not there when code runs, as far as another linter can tell."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

# Undefined names, locals that are read before they are bound, imports for type checkers only.
_RULES = "F821,F823,TC004"


def missing_names(folder: Path) -> Counter[str]:
    """What ruff says of them, by the file's path in the folder."""
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--exit-zero"]
    options = ["--select", _RULES, "--output-format", "json"]
    done = subprocess.run([*command, *options, str(folder)], capture_output=True, check=True)
    root = folder.resolve()
    return Counter(
        f"{Path(one['filename']).resolve().relative_to(root)}: {one['message']}"
        for one in json.loads(done.stdout)
    )
