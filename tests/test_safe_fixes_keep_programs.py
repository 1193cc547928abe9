"""Programs that try to tell a safe fix from what was there: fixtures/kept, each with a `main`.

They hold what gives a changed program away: aliases and views, writes that somebody sees, errors
that are caught, subclasses, hooks, vmap, scripts, generators, other dtypes, numpy's scalars,
autocast, inference mode, wrappers.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files

ROOT = Path(__file__).parent.parent
PROGRAMS = ROOT / "fixtures" / "kept"


@pytest.mark.slow(20)
def test_safe_fixes_change_no_program(tmp_path: Path) -> None:
    fixed = tmp_path / "kept"
    shutil.copytree(PROGRAMS, fixed, ignore=shutil.ignore_patterns("__pycache__"))
    run = fix_files(sorted(fixed.glob("*.py")), Config(root=fixed))
    assert len(run.changed) > 15
    for file in run.changed:
        file.path.write_text(file.after)
    before = _told(PROGRAMS)
    assert len(before) == len(list(PROGRAMS.glob("*.py")))
    assert _told(fixed) == before


def _told(folder: Path) -> list[str]:
    """What each program gives, in a process of its own."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        str(ROOT / "tests" / "kept_programs.py"),
        str(folder),
    ]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
