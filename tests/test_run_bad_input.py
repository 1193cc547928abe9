"""Commands that go wrong: `tclint run` says what can be said and why, and ends as they do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tclint.cli.running import Plan, carry_out
from tclint.run.launch import Settings
from tclint.run.proof import Wanted
from tests.cli_runs import tclint

LOOP = """\
import sys

import torch

model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(int(sys.argv[1])):
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
print("over")
"""
posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")
torch = pytest.mark.slow


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return tclint("run", *arguments, cwd=folder, timeout=600, **environment)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "loop.py").write_text(LOOP)
    return tmp_path


@posix
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("./nothing", "no such command; after `--` write it as in a shell"),
        ("./loop.py", "not a command by itself; write `python loop.py` after `--`"),
        ("./data", "may not be executed"),
        (".", "a folder, not a command"),
    ],
)
def test_what_is_no_command_is_one_clear_error(project: Path, name: str, words: str) -> None:
    (project / "data").write_text("")
    done = run(project, "--", name)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: {name}: {words}\n")


@posix
@pytest.mark.parametrize(
    ("command", "status", "note"),
    [
        (("sh", "-c", "exit 7"), 7, "no Python process of the command loaded the recorder"),
        (("sh", "-c", "kill -9 $$"), 137, "the command ended with status 137"),
        (("{python}", "-c", "raise SystemExit(5)"), 5, "no process of the command imported torch"),
        (("{python}", "-I", "-c", "pass"), 0, "or its Python is older than 3.10 or ignores"),
        (("{python}", "-c", "import os; os.abort()"), 134, "status 134"),
        (
            ("{python}", "-c", "import sys; sys.modules['torch'] = None; import torch"),
            1,
            "no process of the command imported torch",
        ),
    ],
)
def test_the_status_is_the_command_s_and_the_reason_is_told(
    project: Path, command: tuple[str, ...], status: int, note: str
) -> None:
    done = run(project, "--", *(word.format(python=sys.executable) for word in command))
    assert done.returncode == status
    assert f"status {status} · " in done.stdout
    assert note in done.stdout and "note: " in done.stdout


@pytest.mark.parametrize("name", ["report.html", "report.json"])
def test_a_report_that_cannot_be_written_is_printed(project: Path, name: str) -> None:
    report = ("--output-format", name.partition(".")[2], "--output-file", f"gone/{name}")
    done = run(project, *report, "--", sys.executable, "-c", "raise SystemExit(5)")
    assert done.returncode == 5
    assert f"error: cannot write gone/{name}: no such file or directory\n" in done.stderr
    assert "status 5 · " in done.stdout
    assert "note: no process of the command imported torch" in done.stdout


class OddError(Exception):
    """An error that nobody expects."""


def faulty(*_: object, **__: object) -> None:
    raise OddError("oh")


@pytest.mark.parametrize(
    ("place", "missing"),
    [
        ("tclint.run.session.answer", "no report"),
        ("tclint.run.report.rendered.rendered", "no report"),
        ("tclint.run.proof.fixes_for", "no proof"),
        ("tclint.run.ablate.remedies_for", "no measurement"),
    ],
)
def test_an_error_of_tclint_s_own_does_not_change_how_the_command_ended(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    place: str,
    missing: str,
) -> None:
    monkeypatch.setattr(place, faulty)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    command = (sys.executable, "-c", "raise SystemExit(5)")
    wanted = Wanted()
    plan = Plan(command, Settings(), wanted, keep=tmp_path / "kept", ablate=1, prove=True)
    assert carry_out(plan, "text", None) == 5
    told = capsys.readouterr()
    assert f"error: {missing}: unexpected {__name__}.OddError: oh; this is an error in" in told.err
    (file,) = tmp_path.glob("tclint-error-*.txt")
    assert f"please report it with {file}\n" in told.err
    assert "Traceback" not in told.err
    assert "kept" in told.err
    assert ("status 5 · " in told.out) == (missing != "no report")


def test_a_folder_for_the_recording_that_cannot_be_made_is_told_before_the_run(
    project: Path,
) -> None:
    done = run(project, "--keep", "loop.py/kept", "--", sys.executable, "-c", "print('ran')")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: loop.py/kept: no folder for the recording: ")


def test_a_recording_that_was_removed_is_told(project: Path) -> None:
    program = "import os, shutil; shutil.rmtree(os.environ['TCLINT_RECORD']); raise SystemExit(4)"
    done = run(project, "--keep", "kept", "--", sys.executable, "-c", program)
    assert done.returncode == 4
    assert "note: the recording is gone: its folder was removed" in done.stdout


@posix
def test_a_recording_that_does_not_fit_is_told(project: Path) -> None:
    # As on a full disk, but for the reason. The output goes into a pipe: files are limited too.
    program = "print('on'); raise SystemExit(6)"
    limited = ("sh", "-c", 'ulimit -f 0; exec "$@"', "sh", sys.executable, "-c", program)
    command = [sys.executable, "-m", "tclint", "run", "--", *limited]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (6, "")
    assert done.stdout.startswith("on\n")
    assert "note: nothing could be recorded: file too large" in done.stdout


@torch
def test_a_program_that_fails_is_told_with_what_it_did_until_then(project: Path) -> None:
    (project / "fails.py").write_text(LOOP + "raise ValueError('mine')\n")
    done = run(project, "--", sys.executable, "fails.py", "60")
    assert done.returncode == 1
    assert done.stderr.endswith("ValueError: mine\n")
    assert "\nstep " in done.stdout
    assert "note: the command ended with status 1" in done.stdout


@torch
def test_a_program_without_a_step_is_told_how_to_name_one(project: Path) -> None:
    done = run(project, "--", sys.executable, "loop.py", "0")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "over")
    assert "note: torch was imported, but nothing was compiled and no step was made" in done.stdout
    assert "--step-marker FILE:LINE" in done.stdout


@torch
def test_an_endless_program_is_stopped_and_says_why_no_line_has_a_price(project: Path) -> None:
    done = run(project, "--steps", "5", "--", sys.executable, "loop.py", "1000000000")
    assert (done.returncode, done.stderr) == (0, "")
    assert "over" not in done.stdout
    assert "note: no line has a price: the recorder samples lines after 10 steps" in done.stdout
    assert "only 5 were made" in done.stdout
    assert "worth" not in done.stdout


@torch
def test_pytest_is_stopped_without_a_failed_test(project: Path) -> None:
    body = LOOP.replace("\n", "\n    ").replace("int(sys.argv[1])", "10**9")
    (project / "test_it.py").write_text(f"def test_it():\n    {body}\n\ndef test_next(): pass\n")
    pytest_run = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    done = run(project, "--steps", "5", "--", *pytest_run)
    assert done.returncode == 0, done.stdout
    assert "Exit: enough steps" in done.stdout
    assert "failed" not in done.stdout


@torch
@posix
def test_a_program_that_forks_and_trains_in_the_child_is_told(project: Path) -> None:
    program = """\
        import os, runpy, sys
        child = os.fork()
        if child == 0:
            runpy.run_path("loop.py", run_name="__main__")
            raise SystemExit(0)
        os.waitpid(child, 0)
        sys.exit(4)
    """
    (project / "forks.py").write_text("\n".join(line[8:] for line in program.splitlines()))
    done = run(project, "--", sys.executable, "forks.py", "60")
    assert done.returncode == 4
    assert "over\n" in done.stdout and "\nstep " in done.stdout


@torch
def test_a_program_without_standard_streams_is_told_of_on_tclint_s(project: Path) -> None:
    closed = "import sys\nsys.stdout = sys.stderr = None\n"
    (project / "quiet.py").write_text(closed + LOOP)
    done = run(project, "--", sys.executable, "quiet.py", "60")
    assert (done.returncode, done.stderr) == (0, "")
    assert "over" not in done.stdout and "\nstep " in done.stdout


@torch
@posix
def test_ctrl_c_ends_the_command_and_what_it_did_is_told(project: Path) -> None:
    slow = LOOP.replace(
        "step()\n", "step(); print(i, flush=True); __import__('time').sleep(0.01)\n"
    )
    (project / "slow.py").write_text(slow)
    command = [sys.executable, "-m", "tclint", "run", "--", sys.executable, "slow.py", "1000000"]
    with subprocess.Popen(
        command,
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        while process.stdout.readline() != "60\n":
            pass
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "KeyboardInterrupt" in err
    assert "\nstep " in out and "note: the command ended with status 130" in out


@torch
def test_of_several_nodes_only_this_one_is_told(project: Path) -> None:
    ranks = {"RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "16"}
    done = run(project, "--", sys.executable, "loop.py", "40", **ranks)
    assert done.returncode == 0
    assert "note: 1 of 16 ranks were recorded: processes on other machines are not" in done.stdout


@torch
@posix
def test_another_python_needs_nothing_of_tclint_s(project: Path) -> None:
    environment = project / "other"
    made = [sys.executable, "-m", "venv", "--without-pip", "--symlinks", str(environment)]
    subprocess.run(made, check=True)
    packages = next(environment.glob("lib/*/site-packages"))
    mine = Path(sysconfig.get_path("purelib"))
    for found in mine.iterdir():
        ours = "tclint" in found.name or found.suffix == ".pth"
        # What tclint needs and torch does not.
        if not ours and not found.name.startswith(("libcst", "typer", "rich", "click")):
            (packages / found.name).symlink_to(found)
    program = f"import importlib.util as u\nassert not u.find_spec('tclint')\n{LOOP}"
    (project / "other.py").write_text(program)
    report = ("--output-format", "json", "--output-file", "report.json")
    done = run(project, *report, "--", str(environment / "bin" / "python"), "other.py", "60")
    assert (done.returncode, done.stdout) == (0, "over\n"), done.stderr
    told = json.loads((project / "report.json").read_text())
    (rank,) = told["ranks"]
    # None of the four steps in which torch's profiler runs.
    assert (told["notes"], len(rank["losses"])) == ([], 56)
