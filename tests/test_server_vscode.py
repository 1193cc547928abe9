"""The VS Code extension: it is built, and its tests run against the real server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "editors" / "vscode"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not shutil.which("npm") or not (FOLDER / "node_modules").is_dir(),
        reason="`npm install` was not run in editors/vscode",
    ),
]


def test_the_extension_is_built_and_its_tests_pass() -> None:
    npm = shutil.which("npm") or "npm"
    done = subprocess.run(
        [npm, "test"],
        cwd=FOLDER,
        env=os.environ | {"TCLINT_PYTHON": sys.executable},
        capture_output=True,
        timeout=300,
        check=False,
    )
    said = done.stdout.decode()
    assert done.returncode == 0, said + done.stderr.decode()
    assert "# skipped 0" in said
