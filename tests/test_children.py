"""No process of ours imports what lies in the folder that it works on."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.attack import shadows
from tclint import children

EITHER = pytest.mark.parametrize("knows_the_option", [True, False], ids=["3.11", "3.10"])
ALLOWED = {
    "children.py": "all processes are started by commands of it",
    "cache/report_cache.py": "what a run printed depends on the interpreter",
    "cli/verifying.py": "a message",
    "fleet/environment.py": "a message",
    "recorder/site/tclint_recorder/overlay.py": "the recorded command goes on in the same Python",
    "recorder/site/tclint_recorder/recording.py": "a record",
}
"""Who names the interpreter, and why."""


@pytest.fixture
def stubs(tmp_path: Path) -> Path:
    """A folder with a trap for each name that a process may import."""
    folder = tmp_path / "project"
    shadows.set_traps(folder, tmp_path / "sprung")
    return folder


def sprung(stubs: Path) -> str:
    """What has been imported from the folder."""
    canary = stubs.with_name("sprung")
    return canary.read_text() if canary.exists() else ""


def printed(command: Sequence[str], folder: Path, **environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=folder, env=kept | environment, capture_output=True, check=False, timeout=60
    )
    assert not done.returncode or b"Traceback" not in done.stderr, done.stderr.decode()
    return done.stdout.decode()


@EITHER
def test_a_module_of_ours_runs_and_nothing_of_the_folder(
    stubs: Path, knows_the_option: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "_HAS_SAFE_PATH", knows_the_option)
    command = children.module_command("tclint", "check", "--output-format", "concise", "net.py")
    assert "net.py:6:13: TCL101" in printed(command, stubs)
    assert sprung(stubs) == ""


def test_the_same_without_the_command_runs_what_is_in_the_folder(stubs: Path) -> None:
    subprocess.run([sys.executable, "-m", "tclint"], cwd=stubs, capture_output=True, check=False)
    assert sprung(stubs) != ""


@EITHER
def test_lines_of_code_import_nothing_of_the_folder(stubs: Path, knows_the_option: bool) -> None:
    code = "import json, random, sys; print(json.dumps(sys.argv[1:]))\n"
    command = [*children.code_command(code, "a b")]
    if not knows_the_option:  # a Python that does not know the variable would take the branch
        command[2] = command[2].replace("(3, 11)", "(9,)")
    safe = children.SAFE if knows_the_option else {}
    assert json.loads(printed(command, stubs, **safe)) == ["a b"]
    assert sprung(stubs) == ""


@EITHER
def test_packages_of_the_user_and_of_pythonpath_count(
    tmp_path: Path, knows_the_option: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "_HAS_SAFE_PATH", knows_the_option)
    # A virtual environment has no user's folder: the interpreter that it was made of has.
    real = Path(sys.base_prefix, "bin", f"python{sys.version_info[0]}.{sys.version_info[1]}")
    monkeypatch.setattr(sys, "executable", str(real))
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for name, folder in (("mine", f"base/lib/{version}/site-packages"), ("ours", "beside")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / f"{name}.py").write_text("import sys\nprint(sys.argv[1:], end='')\n")
        command = children.module_command(name, "--x", "")
        where = {"PYTHONUSERBASE": str(tmp_path / "base"), "PYTHONPATH": str(tmp_path / "beside")}
        assert printed(command, tmp_path, **where) == "['--x', '']"


def test_work_that_is_shared_by_spawned_processes_imports_nothing_of_the_folder(
    stubs: Path, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"  # it is imported again by what it spawns
    program.write_text(
        "from pathlib import Path\n"
        "from tclint import children\n"
        "from tclint.config import Config\n"
        "from tclint.lint import execution, parallel, shards\n"
        "from tclint.lint.engine import Execution, check_files\n"
        "if __name__ == '__main__':\n"
        "    parallel.FORKS, execution.WORTH = False, 0\n"
        "    shards.WHOLE = shards.SMALLEST = shards.LARGEST = shards.ONE_IN = 1\n"
        "    files = sorted(Path.cwd().glob('many/*.py'))\n"
        "    run = check_files(files, Config(Path.cwd()), execution=Execution(jobs=2))\n"
        "    print(len(files), len(run.results))\n"
    )
    files, found = printed([sys.executable, str(program)], stubs).split()
    assert int(found) >= int(files) > 1
    assert sprung(stubs) == ""


def test_where_processes_would_import_from_the_folder_one_does_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for forks, knows, may in ((True, False, True), (False, True, True), (False, False, False)):
        monkeypatch.setattr(children, "FORKS", forks)
        monkeypatch.setattr(children, "_HAS_SAFE_PATH", knows)
        assert children.may_share_work() is may


@pytest.mark.parametrize("before", [None, "x"])
def test_the_environment_is_as_it_was(monkeypatch: pytest.MonkeyPatch, before: str | None) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    if before is not None:
        monkeypatch.setenv("PYTHONSAFEPATH", before)
    with children.safe_spawning():
        assert os.environ["PYTHONSAFEPATH"] == "1"
    assert os.environ.get("PYTHONSAFEPATH") == before


def test_only_one_module_says_how_a_python_is_started(repository: Path) -> None:
    root = repository / "tclint"
    found = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Attribute) and node.attr == "executable"
        and isinstance(node.value, ast.Name) and node.value.id == "sys"
    }  # fmt: skip
    assert found == {*ALLOWED}
    spawning = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if "import_module" not in path.name and "from multiprocessing" in path.read_text("utf-8")
    }
    assert spawning == {"lint/parallel.py"}


@pytest.mark.parametrize("drill", shadows.DRILLS, ids=lambda drill: drill.name)
def test_no_command_imports_what_lies_in_the_folder(tmp_path: Path, drill: shadows.Drill) -> None:
    assert [*shadows.endured(drill, tmp_path)] == []
