"""The linter for Tcl that has the same package and command, installed before or after ours."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli_runs import BREAKS

OUT = "`pip uninstall tclint`, then install tclint-torch again with `--force-reinstall`\n"
OVERWRITTEN = ("__init__.py", "__main__.py", "config.py")
"""What both distributions have, as of the other one's release 0.9.0."""
MAIN = "def main():\n    print('linted some Tcl')\n"
THEIRS = {
    "tclint/__init__.py": "",
    "tclint/__main__.py": "from tclint.cli.tclint import main\n\nmain()\n",
    "tclint/config.py": "",
    "tclint/_version.py": "version = '0.9.0'\n",
    "tclint/cli/tclint.py": MAIN,
    "tclint/cli/tclsp.py": MAIN,
    "tclint/commands/__init__.py": "",
    "tclint-0.9.0.dist-info/METADATA": "Name: tclint\nVersion: 0.9.0\n",
}


@pytest.fixture
def site(tmp_path: Path, repository: Path) -> Path:
    """A folder with this package, as an installation has it."""
    site = tmp_path / "site"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(repository / "tclint", site / "tclint", ignore=ignored)
    shutil.copytree(repository / "rules", site / "tclint_rules", ignore=ignored)
    about = site / "tclint_torch-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tclint-torch\nVersion: 0.1.0\n")
    (about / "entry_points.txt").write_text("[tclint.rules]\nbuiltin = tclint_rules:RULES\n")
    (tmp_path / "net.py").write_text(BREAKS)
    return site


def put(site: Path, *, over: bool) -> None:
    """Install theirs, over ours or before it."""
    for name, text in THEIRS.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if over or not path.exists():
            path.write_text(text)


def run(site: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site)}
    return subprocess.run(
        [sys.executable, *command],
        cwd=site.parent, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "command",
    [
        ("-c", "import sys; from tclint.cli.tclint import main; sys.exit(main())"),
        ("-c", "import sys; from tclint.cli.tclsp import main; sys.exit(main())"),
        ("-c", "import sys; from tclint.cli import main; sys.exit(main())"),
        ("-m", "tclint", "check", "net.py"),
    ],
    ids=["their command", "another of theirs", "our command", "the module"],
)
def test_theirs_over_ours_is_one_error_that_says_the_way_out(
    site: Path, command: tuple[str, ...]
) -> None:
    put(site, over=True)
    done = run(site, *command)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: a linter for Tcl that is called tclint, too, replaced files of this one: " + OUT
    )


@pytest.mark.parametrize(
    ("arguments", "code", "shows"),
    [
        (("--version",), 0, "tclint "),
        (("check", "net.py", "--output-format", "json"), 1, '"TCL101"'),
        (("rule", "TCL101"), 0, "TCL101"),
    ],
)
def test_ours_over_theirs_works_and_warns(
    site: Path, arguments: tuple[str, ...], code: int, shows: str
) -> None:
    put(site, over=False)
    done = run(site, "-m", "tclint", *arguments)
    assert (done.returncode, shows in done.stdout) == (code, True), done.stderr
    first, _, _ = done.stderr.partition("\n")
    assert first.startswith("warning: a linter for Tcl that is called tclint, too, is installed")
    assert f"{first}\n".endswith(OUT)


def test_alone_it_says_nothing(site: Path) -> None:
    done = run(site, "-m", "tclint", "--version")
    assert (done.returncode, done.stderr) == (0, "")


def test_what_both_have_is_still_the_same(repository: Path) -> None:
    """Theirs must not have the file that ours is told by."""
    both = {name for name in THEIRS if (repository / name).exists()}
    assert both == {f"tclint/{name}" for name in OVERWRITTEN}
    assert (repository / "tclint" / "cli" / "__init__.py").exists()
