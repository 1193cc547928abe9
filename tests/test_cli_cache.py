"""The cache and the processes of ``tclint check``, run as people run it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.test_cli_check import BREAKS, tclint

PACK = """\
from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import HostRead


class Ours(Rule[HostRead]):
    code, name, summary = "OUR101", "ours", "ours"
    on, effects = HostRead, (Effect.HOST_SYNC,)

    def check(self, event: HostRead) -> Finding | None:
        return Finding("MESSAGE")


RULES = (Ours,)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "tclint.toml").write_text("", encoding="utf-8")
    (folder / "net.py").write_text(BREAKS, encoding="utf-8")
    return folder


def test_the_cache_lies_beside_the_configuration_and_hides_itself(project: Path) -> None:
    (project / "sub").mkdir()
    cold = tclint("check", "..", cwd=project / "sub")
    warm = tclint("check", "..", cwd=project / "sub")
    assert (cold.returncode, cold.stdout) == (warm.returncode, warm.stdout) == (1, cold.stdout)
    cache = project / ".tclint_cache"
    assert (cache / ".gitignore").read_text("utf-8") == "*\n"
    assert (cache / "CACHEDIR.TAG").read_text("utf-8").startswith("Signature: 8a477f597d28d172")
    assert len([*cache.glob("*.run")]) == 1


def test_without_a_cache_nothing_is_written(project: Path) -> None:
    assert tclint("check", "--no-cache", cwd=project).returncode == 1
    assert tclint("check", cwd=project, TCLINT_NO_CACHE="1").returncode == 1
    assert tclint("check", "-", cwd=project, stdin=BREAKS.encode()).returncode == 1
    assert sorted(path.name for path in project.iterdir()) == ["net.py", "tclint.toml"]


def test_the_cache_can_be_elsewhere(project: Path, tmp_path: Path) -> None:
    tclint("check", "--cache-dir", str(tmp_path / "one"), cwd=project)
    tclint("check", cwd=project, TCLINT_CACHE_DIR=str(tmp_path / "two"))
    assert (tmp_path / "one/CACHEDIR.TAG").is_file()
    assert (tmp_path / "two/CACHEDIR.TAG").is_file()
    assert not (project / ".tclint_cache").exists()


def test_a_folder_that_holds_other_things_is_no_cache(project: Path) -> None:
    done = tclint("check", "--cache-dir", ".", cwd=project)
    assert "it holds other files" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (project / ".gitignore").exists()
    assert not [*project.glob("*.run")]


def test_clean_removes_the_cache_and_nothing_else(project: Path) -> None:
    tclint("check", cwd=project)
    (project / ".tclint_cache/notes.txt").write_text("mine", "utf-8")
    assert tclint("clean", cwd=project).returncode == 0
    assert [path.name for path in (project / ".tclint_cache").iterdir()] == ["notes.txt"]
    done = tclint("clean", cwd=project)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "has no CACHEDIR.TAG" in done.stderr


def test_clean_says_when_there_is_nothing_to_do(project: Path) -> None:
    done = tclint("clean", cwd=project)
    assert (done.returncode, done.stdout) == (0, "")
    assert "There is no cache" in done.stderr


def test_a_cache_folder_that_is_a_file_is_one_warning(project: Path) -> None:
    done = tclint("check", "--cache-dir", "net.py", cwd=project)
    assert done.returncode == 1
    assert "TCL101" in done.stdout
    assert "cannot write the cache net.py" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_changed_rule_pack_is_asked_again(project: Path, tmp_path: Path) -> None:
    packs = tmp_path / "packs"
    info = packs / "our_rules-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: our-rules\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tclint.rules]\nours = our_rules:RULES\n")
    rules = packs / "our_rules.py"
    for message in ("first words", "other words"):
        rules.write_text(PACK.replace("MESSAGE", message), encoding="utf-8")
        for _ in range(2):
            done = tclint("check", cwd=project, PYTHONPATH=str(packs))
            assert message in done.stdout, done.stderr
    assert "OUR101" not in tclint("check", cwd=project).stdout


def test_two_runs_at_once_agree_and_leave_one_good_cache(project: Path) -> None:
    command = [sys.executable, "-m", "tclint", "check"]
    several = [
        subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    answers = {run.communicate(timeout=120) for run in several}
    assert len(answers) == 1
    [(out, err)] = answers
    assert b"TCL101" in out and not err
    assert tclint("check", cwd=project).stdout.encode() == out
    assert not [*(project / ".tclint_cache").glob("*.part")]


@pytest.mark.parametrize("delay", [0.3, 0.6, 0.9, 1.5])
def test_an_interrupted_run_is_quiet_and_spoils_nothing(project: Path, delay: float) -> None:
    for number in range(300):
        folder = project / f"part{number // 10}"
        folder.mkdir(exist_ok=True)
        (folder / f"net{number}.py").write_text(BREAKS * 4, "utf-8")
    run = subprocess.Popen(
        [sys.executable, "-m", "tclint", "check", "--jobs", "2"],
        cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    time.sleep(delay)
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does, to every process
    _, err = run.communicate(timeout=60)
    assert run.returncode in (0, 1, 130, -signal.SIGINT)
    # Until our own code runs, Python is not quiet about interrupts.
    assert b"tclint/cli" not in err and b"tclint/lint" not in err, err.decode()
    assert not [*project.rglob("*.part")]


@pytest.mark.parametrize("value", ["-1", "two"])
def test_a_number_of_jobs_that_is_none_is_refused(project: Path, value: str) -> None:
    done = tclint("check", "--jobs", value, cwd=project)
    assert done.returncode == 2
    assert "--jobs" in done.stderr
