"""``tclint fix``, and ``--diff``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.test_cli_check import BREAKS, CLEAN, project, put, tclint

__all__ = ["project"]

FIXABLE = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        top = x.max().item()
        return x * top + 1
"""
FIXED = FIXABLE.replace(".item()", ".detach()")


def test_fix_writes_the_file_and_says_which_rules_were_fixed(project: Path) -> None:
    put(project, "model.py", FIXABLE)
    done = tclint("fix", cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(
        "Fixed 1 finding:\n- model.py:\n    1 \N{MULTIPLICATION SIGN} TCL"
    )
    assert done.stdout.endswith("All checks passed!\n")
    assert (project / "model.py").read_text(encoding="utf-8") == FIXED
    assert tclint("fix", cwd=project).stdout == "All checks passed!\n"
    assert (project / "model.py").read_text(encoding="utf-8") == FIXED


def test_exit_non_zero_on_fix_tells_the_shell(project: Path) -> None:
    put(project, "model.py", FIXABLE)
    assert tclint("fix", "--exit-non-zero-on-fix", cwd=project).returncode == 1
    assert tclint("fix", "--exit-non-zero-on-fix", cwd=project).returncode == 0


def test_diff_shows_the_change_and_writes_nothing(project: Path) -> None:
    put(project, "model.py", FIXABLE)
    done = tclint("fix", "--diff", cwd=project)
    assert done.returncode == 1
    assert done.stdout.startswith("--- a/model.py\n+++ b/model.py\n@@ ")
    assert "\n-        top = x.max().item()\n+        top = x.max().detach()\n" in done.stdout
    assert done.stderr == "Would fix 1 finding.\n"
    assert (project / "model.py").read_text(encoding="utf-8") == FIXABLE


def test_diff_of_clean_code_is_empty(project: Path) -> None:
    put(project, "model.py", CLEAN)
    done = tclint("fix", "--diff", cwd=project)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "Nothing to fix.\n")


def test_what_cannot_be_fixed_remains_with_exit_code_1(project: Path) -> None:
    put(project, "model.py", BREAKS)
    done = tclint("fix", cwd=project)
    assert done.returncode == 1
    assert "Found 1 finding (1 graph break)." in done.stdout
    assert (project / "model.py").read_text(encoding="utf-8") == BREAKS


def test_standard_input_comes_back_repaired_in_its_own_encoding(project: Path) -> None:
    source = f"# coding: latin-1\n# é\n{FIXABLE}".replace("\n", "\r\n").encode("latin-1")
    done = tclint("fix", "-", "--stdin-filename=net.py", cwd=project, stdin=CLEAN.encode())
    assert (done.returncode, done.stdout, done.stderr) == (0, CLEAN, "")
    repaired = subprocess.run(
        [sys.executable, "-m", "tclint", "fix", "-"],
        cwd=project,
        input=source,
        capture_output=True,
        check=False,
    )
    assert repaired.stdout == source.replace(b".item()", b".detach()")
