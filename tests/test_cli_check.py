"""``tclint check`` and the whole command line, run as people run it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli_runs import BREAKS, tclint

CLEAN = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return x + 1
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "tclint.toml").write_text("", encoding="utf-8")
    return folder


def put(project: Path, name: str, text: str | bytes) -> None:
    data = text.encode() if isinstance(text, str) else text
    (project / name).write_bytes(data)


def test_clean_code_passes(project: Path) -> None:
    put(project, "model.py", CLEAN)
    done = tclint("check", cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("All checks passed!\n")


def test_a_finding_is_shown_with_its_source_and_exits_with_1(project: Path) -> None:
    put(project, "model.py", BREAKS)
    done = tclint("check", cwd=project)
    assert done.returncode == 1
    assert done.stdout.startswith("model.py:6:17: TCL")
    assert "6 |         scale = x.sum().item()\n" in done.stdout
    assert "(GB0124)" in done.stdout
    assert "Found 1 finding (1 graph break)." in done.stdout
    assert done.stderr == ""


def test_a_package_can_be_checked_from_inside(project: Path) -> None:
    put(project, "__init__.py", "")
    put(project, "model.py", BREAKS)
    assert tclint("check", "model.py", cwd=project).returncode == 1


def test_exit_zero_hides_findings_from_the_shell(project: Path) -> None:
    put(project, "model.py", BREAKS)
    assert tclint("check", "--exit-zero", cwd=project).returncode == 0


def test_json_goes_to_a_file(project: Path) -> None:
    put(project, "model.py", BREAKS)
    done = tclint("check", "--output-format=json", "--output-file=report.json", cwd=project)
    assert (done.returncode, done.stdout) == (1, "")
    [found] = json.loads((project / "report.json").read_text(encoding="utf-8"))
    assert found["filename"] == str(project / "model.py")
    assert found["location"] == {"row": 6, "column": 17}


def test_the_environment_can_choose_the_format(project: Path) -> None:
    put(project, "model.py", CLEAN)
    assert tclint("check", cwd=project, TCLINT_OUTPUT_FORMAT="json").stdout == "[]\n"


def test_standard_input_takes_the_name_it_is_given(project: Path) -> None:
    done = tclint(
        "check", "-", "--stdin-filename=net.py", "-q", "--output-format=concise",
        cwd=project, stdin=BREAKS.encode(),
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout.startswith("net.py:6:17: TCL")


def test_a_name_for_standard_input_alone_reads_it(project: Path) -> None:
    put(project, "other.py", BREAKS)
    done = tclint("check", "--stdin-filename=net.py", cwd=project, stdin=CLEAN.encode())
    assert (done.returncode, done.stdout.partition("\n")[0]) == (0, "All checks passed!")


@pytest.mark.parametrize("command", ["check", "fix"])
def test_standard_input_can_be_excluded_like_a_file(project: Path, command: str) -> None:
    arguments = [command, "-", "--stdin-filename=build/net.py"]
    named = tclint(*arguments, cwd=project, stdin=BREAKS.encode())
    assert named.returncode == 1
    left_out = tclint(*arguments, "--force-exclude", cwd=project, stdin=BREAKS.encode())
    assert (left_out.returncode, left_out.stderr) == (0, "")
    assert left_out.stdout == (BREAKS if command == "fix" else "All checks passed!\n")


def test_each_of_two_folders_keeps_its_configuration(project: Path) -> None:
    put(project, "tclint.toml", 'ignore = ["TCL1"]\n')
    for folder in ("a", "b"):
        (project / folder).mkdir()
        put(project, f"{folder}/net.py", BREAKS)
    put(project, "b/tclint.toml", "")
    assert tclint("check", "net.py", cwd=project / "b").returncode == 1
    both = tclint("check", "net.py", "../a/net.py", cwd=project / "b")
    assert "Found 1 finding" in both.stdout
    assert tclint("check", "../a/net.py", cwd=project / "b").returncode == 0


def test_a_file_that_is_not_text_stops_nothing_else(project: Path) -> None:
    put(project, "model.py", BREAKS)
    put(project, "bad.py", b"x = '\xff'\n")
    done = tclint("check", cwd=project)
    assert done.returncode == 2
    assert "1 file could not be checked." in done.stdout
    assert done.stderr.startswith("error: bad.py:1:6: byte 0xff is not UTF-8")
    assert "Traceback" not in done.stderr
    assert "an error in tclint" not in done.stderr


def test_a_syntax_error_is_one_finding_and_no_message_besides(project: Path) -> None:
    put(project, "bad.py", "def f(:\n")
    done = tclint("check", "--output-format=concise", cwd=project)
    assert done.returncode == 1
    assert done.stdout.startswith("bad.py:1:7: TCL001 ")
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["check", "nosuch.py"], "nosuch.py: ", id="no such file"),
        pytest.param(["check", "--select", "XYZ1"], "'XYZ1'", id="no such rule"),
        pytest.param(["check", "--scope", "al"], "'al' is not one of compiled", id="no such scope"),
        pytest.param(["check", "--config", "nosuch.toml"], "nosuch.toml: cannot", id="no config"),
        pytest.param(["check", "--config", "scpe='all'"], "did you mean 'scope'?", id="no key"),
        pytest.param(["check", "--config", "scope=all"], "strings need quotes", id="not TOML"),
        pytest.param(["check", "-", "x.py"], "cannot be combined", id="stdin and a file"),
        pytest.param(["check", "--stdin-filename=a.py", "x.py"], "leave the paths out", id="both"),
        pytest.param(["chek"], "Did you mean 'check'?", id="no such command"),
        pytest.param(["rule", "TCL9999"], "unknown rule `TCL9999`", id="no such rule's page"),
        pytest.param(["config", "scpe"], "did you mean 'scope'?", id="no such key's page"),
    ],
)
def test_where_nothing_can_be_done_the_exit_code_is_2(
    project: Path, arguments: list[str], message: str
) -> None:
    done = tclint(*arguments, cwd=project)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert "an error in tclint" not in done.stderr
    assert done.stderr.startswith(("error: ", "Usage: "))


def test_a_broken_configuration_is_one_message(project: Path) -> None:
    put(project, "tclint.toml", "scope = 3\n")
    done = tclint("check", cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {project / 'tclint.toml'}: scope: expected")
    put(project, "model.py", CLEAN)
    assert tclint("check", "--isolated", cwd=project).returncode == 0


def test_a_wrong_code_is_blamed_on_who_wrote_it(project: Path) -> None:
    (project / "tclint.toml").write_text('ignore = ["TCL101"]\n')
    assert (
        "command line: select: no rule has the code 'X1'"
        in tclint("check", "--select", "X1", cwd=project).stderr
    )
    (project / "tclint.toml").write_text('ignore = ["X1"]\n')
    assert "tclint.toml: ignore: no rule has the code 'X1'" in tclint("check", cwd=project).stderr


def test_codes_may_be_separated_by_commas(project: Path) -> None:
    put(project, "model.py", BREAKS)
    done = tclint("check", "--ignore", "TCL3,TCL10", "--ignore", "TCL4", cwd=project)
    assert done.stdout.startswith("All checks passed!\n")


def test_statistics_replace_the_findings(project: Path) -> None:
    put(project, "model.py", BREAKS)
    done = tclint("check", "--statistics", cwd=project)
    assert done.stdout.startswith("1  TCL")
    rows = json.loads(tclint("check", "--statistics", "--output-format=json", cwd=project).stdout)
    assert [row["count"] for row in rows] == [1]


def test_an_empty_folder_passes_with_a_warning(project: Path) -> None:
    done = tclint("check", cwd=project)
    assert done.returncode == 0
    assert done.stderr == "warning: no Python files found under the given paths\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_a_reader_that_hangs_up_is_no_error(project: Path) -> None:
    put(project, "model.py", BREAKS)
    command = f'{{ "{sys.executable}" -m tclint check; echo "$?" >&2; }} | true'
    done = subprocess.run(
        ["sh", "-c", command], cwd=project, capture_output=True, text=True, check=False
    )
    assert done.stderr == "1\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("command", ["check", "rule"])
def test_an_output_that_takes_nothing_is_one_error(project: Path, command: str) -> None:
    put(project, "model.py", BREAKS)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tclint", command],
            cwd=project, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "error: cannot write to standard output: no space left on device\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-"])
def test_streams_may_be_closed(project: Path, closed: str) -> None:
    put(project, "model.py", BREAKS)
    command = f'"{sys.executable}" -m tclint check - {closed} < model.py'
    done = subprocess.run(
        ["sh", "-c", command], cwd=project, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(sys.platform == "win32", reason="folders that are in use stay there")
def test_a_current_folder_that_is_gone_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    command = f'cd gone && rmdir ../gone && "{sys.executable}" -P -m tclint check'
    command = command if sys.version_info >= (3, 11) else command.replace(" -P ", " ")
    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "error: the current folder does not exist any more\n"


def test_checking_imports_nothing_heavy(project: Path) -> None:
    put(project, "model.py", BREAKS)
    code = (
        "import sys; from tclint.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'libcst', 'rich', 'numpy', 'pygls'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    for output_format in ("full", "concise", "github"):
        done = subprocess.run(
            [sys.executable, "-c", code, "check", f"--output-format={output_format}"],
            cwd=project,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, "imported" in done.stderr) == (0, False)


def test_the_version_is_printed(project: Path) -> None:
    assert tclint("--version", cwd=project).stdout.startswith("tclint 0.")


@pytest.mark.parametrize(
    "command", ["check", "fix", "verify", "rule", "config", "server", "review"]
)
def test_every_command_has_help(project: Path, command: str) -> None:
    assert f"  {command} " in tclint("--help", cwd=project).stdout
    done = tclint(command, "--help", cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: tclint {command} ")
