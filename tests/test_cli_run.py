"""How a run goes on: files and settings shown, watching, interruptions, bars."""

from __future__ import annotations

import functools
import io
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tclint.cli import file_bar
from tclint.cli.app import build
from tclint.cli.configuration import Overrides
from tclint.cli.inputs import Inputs, gather
from tclint.cli.watching import watch
from tclint.config import Config
from tests.cli_runs import BREAKS, tclint

LONG = 180


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "tclint.toml").write_text('scope = "all"\n', encoding="utf-8")
    (folder / "model.py").write_text(BREAKS, encoding="utf-8")
    return folder


def test_the_files_that_would_be_checked_are_listed(project: Path) -> None:
    for name in ("b.py", "a.pyi", "c.txt", "n.ipynb", "build/x.py"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("", encoding="utf-8")
    done = tclint("check", "--show-files", cwd=project)
    assert (done.returncode, done.stdout) == (0, "b.py\nmodel.py\nn.ipynb\n")


def test_settings_are_shown_as_toml_that_can_be_read_again(project: Path) -> None:
    options = ("--config", 'per-file-ignores={"a b" = ["TCL1"]}', "--ignore", "TCL2")
    done = tclint("check", "--show-settings", *options, cwd=project)
    assert done.returncode == 0
    assert done.stdout.startswith(f"# {project / 'tclint.toml'}\n")
    assert 'scope = "all"\n' in done.stdout
    assert 'ignore = ["TCL2"]\n' in done.stdout
    (project / "again.toml").write_text(done.stdout, encoding="utf-8")
    again = tclint("check", "--show-settings", "--config", "again.toml", cwd=project)
    # What is inferred is now said by the file, so that the source of it is another.
    values = [
        [line.partition("  #")[0] for line in run.stdout.splitlines()] for run in (done, again)
    ]
    assert values[1][1:] == values[0][1:]


class Watching:
    """``tclint check --watch`` on a folder, and what it has printed."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        command = [sys.executable, "-m", "tclint", "check", "--watch", "--output-format=concise"]
        self.process = subprocess.Popen(
            [*command, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self.seen = ""

    def wait_for(self, text: str) -> str:
        """Read on until a text turns up; what stands between it and the one before."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + LONG
        while text not in self.seen:
            assert time.monotonic() < deadline, self.seen
            if select.select([self.process.stdout], [], [], 1)[0]:
                self.seen += os.read(self.process.stdout.fileno(), 4096).decode()
        before, _, self.seen = self.seen.partition(text)
        return before


def test_watching_follows_files_and_configuration(project: Path) -> None:
    watching = Watching(project)
    try:
        watching.wait_for("model.py:6:17: TCL101")
        watching.wait_for("Watching 1 file;")
        (project / "model.py").write_text("x = 1\n", encoding="utf-8")
        watching.wait_for("All checks passed!")
        (project / "second.py").write_text(BREAKS, encoding="utf-8")
        watching.wait_for("second.py:6:17: TCL101")
        watching.wait_for("Watching 2 files")
        (project / "tclint.toml").write_text("scope = 3\n", encoding="utf-8")
        watching.wait_for("scope: expected")
        time.sleep(2)
        (project / "tclint.toml").write_text('ignore = ["TCL101"]\n', encoding="utf-8")
        assert "scope: expected" not in watching.wait_for("All checks passed!"), "it is said once"
        watching.process.send_signal(signal.SIGINT)
        assert watching.process.wait(LONG) == 130
        watching.process.stdout.close()
    finally:
        watching.process.kill()


def test_a_new_configuration_is_looked_at_again_where_it_was_broken(project: Path) -> None:
    (project / "tclint.toml").unlink()
    watching = Watching(project, "--scope=all")
    try:
        watching.wait_for("Watching 1 file;")
        (project / "tclint.toml").write_text("scope = 3\n", encoding="utf-8")
        watching.wait_for("scope: expected")
        (project / "tclint.toml").write_text('ignore = ["TCL101"]\n', encoding="utf-8")
        watching.wait_for("All checks passed!")
    finally:
        watching.process.kill()
        watching.process.communicate()


def test_a_configuration_that_is_written_while_it_is_read_is_read_again(project: Path) -> None:
    settings, seen = project / "tclint.toml", list[Config]()

    def gathered() -> Inputs:
        inputs = gather([project], Overrides(), None, again=True)
        if not inputs.config.ignore:
            settings.write_text('ignore = ["TCL101"]\n', encoding="utf-8")
        return inputs

    def run(inputs: Inputs) -> int:
        seen.append(inputs.config)
        raise KeyboardInterrupt

    settings.write_text("", encoding="utf-8")
    with pytest.raises(KeyboardInterrupt):
        watch(gather([project], Overrides(), None), gathered, run)
    assert [config.ignore for config in seen] == [("TCL101",)]


def test_watching_outlives_what_keeps_a_run_from_its_end(project: Path) -> None:
    watching = Watching(project, "--baseline=known.json")
    try:
        watching.wait_for("known.json: no such baseline")
        (project / "known.json").write_text('{"version": 1, "findings": []}', encoding="utf-8")
        (project / "model.py").write_text(f"{BREAKS}\n", encoding="utf-8")
        watching.wait_for("model.py:6:17: TCL101")
        (project / "model.py").unlink()
        watching.wait_for("Watching 0 files")
        time.sleep(2)
        (project / "model.py").write_text(BREAKS, encoding="utf-8")
        assert "warning" not in watching.wait_for("model.py:6:17: TCL101"), "it is no mistake"
    finally:
        watching.process.kill()
        watching.process.communicate()


MANY = 400


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interruption_is_quiet_at_any_moment(tmp_path: Path, delay: float, jobs: str) -> None:
    for number in range(MANY):
        folder = tmp_path / f"p{number // 20}"
        folder.mkdir(exist_ok=True)
        (folder / f"m{number}.py").write_text(BREAKS * 5, encoding="utf-8")
    command = [sys.executable, "-m", "tclint", "check", "-q", "--no-cache", "--jobs", jobs]
    process = subprocess.Popen(
        [*command, "--output-file", os.devnull],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    time.sleep(delay)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=LONG)
    assert b"tclint/cli/" not in out  # what the interpreter says before it gets here is its own
    if b"Traceback" not in out:
        assert (process.returncode in {130, 1, -signal.SIGINT}, out) == (True, b"")


def test_a_bar_shows_how_far_a_long_run_is() -> None:
    stream = io.StringIO()
    bar = file_bar.Bar(stream, 4, patience=0)
    bar.advance(1)
    assert bar.text(80) == f"{'━' * 10}{'╌' * 30} 1/4 Checking"
    assert bar.text(30) == f"{'━' * 4}{'╌' * 12} 1/4 Checking"
    assert all(len(bar.text(columns)) < max(columns, 1) for columns in range(1, 100))
    bar.clear()
    assert stream.getvalue().endswith("\r\x1b[2K")


def test_a_bar_is_full_at_most_though_fixed_files_are_looked_at_again() -> None:
    bar = file_bar.Bar(io.StringIO(), 2, patience=0)
    for _ in range(3):
        bar.advance(1)
    assert bar.text(30) == f"{'━' * 16} 2/2 Checking"


@pytest.mark.parametrize("command", ["check", "fix"])
def test_a_terminal_gets_a_bar_with_quiet_or_without(
    project: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setattr(file_bar, "Bar", functools.partial(file_bar.Bar, patience=0))
    for options in ((), ("--quiet",)):
        stream = _Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        with pytest.raises(SystemExit):
            build().main([command, "-j", "1", *options, *(["--diff"] if command == "fix" else [])])
        assert " 1/1 Checking" in stream.getvalue()


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_short_run_shows_no_bar() -> None:
    stream = io.StringIO()
    bar = file_bar.Bar(stream, 2)
    bar.advance(1)
    bar.clear()
    assert stream.getvalue() == ""


def test_a_terminal_gets_links_and_colours_and_its_width(project: Path) -> None:
    long = BREAKS.replace("x.sum()", f"x.sum() + {' + '.join(['x'] * 60)}")
    (project / "model.py").write_text(long, encoding="utf-8")
    ours, theirs = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "FORCE_COLOR"}}
    with subprocess.Popen(
        [sys.executable, "-m", "tclint", "check", "-q"],
        cwd=project,
        env=environment | {"TERM": "xterm", "COLUMNS": "60"},
        stdout=theirs,
        stderr=subprocess.PIPE,
    ):
        os.close(theirs)
        out = b""
        try:
            while part := os.read(ours, 4096):
                out += part
        except OSError:
            pass  # the other side is closed
    os.close(ours)
    shown = out.decode()
    assert "\x1b]8;;file:///" in shown
    assert "/item_in_compiled_region.md\x1b\\" in shown
    assert "\x1b[31;1mTCL101\x1b[0m\x1b]8;;\x1b\\" in shown
    plain = re.sub(r"\x1b(\[[0-9;]*m|\]8;;[^\x1b]*\x1b\\)", "", shown)
    source = [line for line in plain.splitlines() if re.match(r"[ \d]+\|", line)]
    assert source
    assert max(map(len, source)) <= 60


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("tclint ch", ["check"]),
        ("tclint check --output-f", ["--output-format", "--output-file"]),
        ("tclint check --output-format g", ["github", "gitlab"]),
    ],
)
def test_the_shell_completes_commands_options_and_values(
    project: Path, typed: str, offered: list[str]
) -> None:
    code = "import sys; sys.argv = ['tclint']; from tclint.cli import main; main()"
    environment = {
        "_TCLINT_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == offered
