"""The wheel whose analysis mypyc has compiled: it finds what the sources find."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_packaging import environment

NEEDED = ("pytest", "hypothesis")
TESTS = ("test_semantics_*.py", "test_programs.py", "test_rule_examples.py", "test_lint_engine.py")
# As pyproject.toml has it, which is not there: no listening to logs, and no asserts of plugins.
LEAN = (
    "-q", "--import-mode=importlib", "-p", "no:logging", "--disable-plugin-autoload",
    "-p", "_hypothesis_pytestplugin",
)  # fmt: skip
PLACE = "import tclint.semantics.lattice as m; print(m.__file__)"


@pytest.mark.slow(100)
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_compiled_analysis_passes_the_tests(
    repository: Path, sources: Path, tmp_path: Path
) -> None:
    build = ["wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), "."]
    # What mypyc makes is under test, with its assertions, and not how well it is optimized. The C
    # compiler takes three times as long when it looks for what to warn of, as in `make wheel`.
    how = {"TCLINT_COMPILE": "1", "TCLINT_OPTIMIZE": "0", "CFLAGS": "-w"}
    run([sys.executable, "-m", "pip", *build], sources, **how)
    (wheel,) = tmp_path.glob("*.whl")
    binaries = environment(tmp_path / "venv", str(wheel), *NEEDED)
    python = str(binaries / "python")
    # Away from the sources, which would be imported in the place of what is installed.
    apart = tmp_path / "apart"
    for name in ("tests", "fixtures", "scripts"):
        shutil.copytree(repository / name, apart / name)
    assert run([python, "-c", PLACE], apart).strip().endswith((".so", ".pyd"))

    tests = [str(path) for name in TESTS for path in sorted((apart / "tests").glob(name))]
    run([str(binaries / "pytest"), *LEAN, *tests], apart)


def run(command: list[str], folder: Path, **environment: str) -> str:
    """Run a command that must succeed; give its output."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout
