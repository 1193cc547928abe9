"""Notebooks on the command line: findings by cell, fixes that keep the JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tclint.cli.fixing import without_notebooks
from tclint.cli.inputs import Inputs
from tclint.config import Config
from tclint.fix.diff import unified_diff
from tclint.fix.results import FixedFile
from tclint.source.decode import read_source
from tests.cli_runs import commit_all, git, tclint

CELLS = (
    ["%matplotlib inline\n", "import torch"],
    [
        "class Net(torch.nn.Module):\n",
        "    def forward(self, x: torch.Tensor):\n",
        "        print(x)\n",
        "        return x",
    ],
)


def whole(*cells: list[str]) -> str:
    listed = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Ünïcode"]},
        *({"cell_type": "code", "outputs": [], "source": cell} for cell in cells),
    ]
    return json.dumps({"cells": listed, "metadata": {}, "nbformat": 4}, indent=1) + "\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "tclint.toml").write_text("", encoding="utf-8")
    (folder / "notes.ipynb").write_text(whole(*CELLS), encoding="utf-8")
    return folder


def test_findings_name_the_cell_and_the_line_in_it(project: Path) -> None:
    done = tclint("check", cwd=project)
    assert done.returncode == 1
    assert done.stdout.startswith("notes.ipynb:cell 3:3:9: TCL120 [*] ")
    assert "3 |         print(x)\n" in done.stdout
    assert "tclint-cell" not in done.stdout


def test_json_tells_the_cell(project: Path) -> None:
    [found] = json.loads(tclint("check", "--output-format=json", cwd=project).stdout)
    assert (found["cell"], found["location"]) == (3, {"row": 3, "column": 9})


@pytest.mark.parametrize("output_format", ["github", "gitlab", "junit", "sarif"])
def test_formats_that_know_only_lines_tell_the_cell_in_words(
    project: Path, output_format: str
) -> None:
    out = tclint("check", f"--output-format={output_format}", cwd=project).stdout
    assert "cell 3" in out
    assert "notes.ipynb" in out


def test_a_fix_changes_its_lines_and_no_other_byte(project: Path) -> None:
    before = (project / "notes.ipynb").read_bytes()
    assert tclint("fix", cwd=project).returncode == 0
    after = (project / "notes.ipynb").read_bytes()
    old, new = before.splitlines(), after.splitlines()
    [place] = [n for n, line in enumerate(old) if b"print(x)" in line]
    assert old[:place] == new[:place]
    assert old[place + 1 :] == new[len(new) - len(old) + place + 1 :]
    assert json.loads(after)["cells"][1]["source"] == CELLS[0]
    assert "is_compiling" in "".join(json.loads(after)["cells"][2]["source"])
    assert tclint("check", cwd=project).stdout.startswith("All checks passed!\n")


def test_a_patch_of_a_notebook_is_one_of_its_json(project: Path) -> None:
    patch = tclint("fix", "--diff", cwd=project).stdout
    git(project, "init", "--quiet")
    (project.parent / "it.patch").write_text(patch, encoding="utf-8")
    git(project, "apply", "../it.patch")
    applied = (project / "notes.ipynb").read_bytes()
    (project / "notes.ipynb").write_text(whole(*CELLS), encoding="utf-8")
    tclint("fix", cwd=project)
    assert (project / "notes.ipynb").read_bytes() == applied


def test_people_see_what_changes_in_a_cell(project: Path) -> None:
    file = read_source(project / "notes.ipynb")
    after = file.text.replace("        print(x)\n", "")
    shown = unified_diff(FixedFile(file.path, file.text, after, file.encoding), "notes.ipynb")
    assert shown.splitlines()[:4] == [
        "--- a/notes.ipynb:cell 3\t",
        "+++ b/notes.ipynb:cell 3\t",
        "@@ -1,4 +1,3 @@",
        " class Net(torch.nn.Module):",
    ]
    assert "-        print(x)" in shown


def test_a_patch_of_standard_input_names_the_cell(project: Path) -> None:
    data = (project / "notes.ipynb").read_bytes()
    done = tclint("fix", "--diff", "-", "--stdin-filename=other.ipynb", cwd=project, stdin=data)
    assert done.stdout.startswith("--- a/other.ipynb:cell 3\t\n")


def test_standard_input_may_be_a_notebook(project: Path) -> None:
    data = (project / "notes.ipynb").read_bytes()
    arguments = ("-", "--stdin-filename=other.ipynb")
    done = tclint("check", *arguments, "--output-format=concise", cwd=project, stdin=data)
    assert done.stdout.startswith("other.ipynb:cell 3:3:9: TCL120")
    fixed = json.loads(tclint("fix", *arguments, cwd=project, stdin=data).stdout)
    assert fixed["cells"][1]["source"] == CELLS[0]
    assert "is_compiling" in "".join(fixed["cells"][2]["source"])


def test_comments_silence_findings_in_cells(project: Path) -> None:
    assert tclint("check", "--add-ignore=shown once", cwd=project).returncode == 0
    cells = json.loads((project / "notes.ipynb").read_text(encoding="utf-8"))["cells"]
    assert cells[2]["source"][2] == "        print(x)  # tclint: ignore[TCL120]  -- shown once\n"
    assert tclint("check", cwd=project).returncode == 0


def test_changed_lines_of_a_notebook_are_those_of_its_json(project: Path) -> None:
    commit_all(project)
    assert tclint("check", "--diff-only=HEAD", cwd=project).returncode == 0
    new = [*CELLS[1][:3], "        return x * x.sum().item()"]
    (project / "notes.ipynb").write_text(whole(CELLS[0], new), encoding="utf-8")
    out = tclint("check", "--diff-only=HEAD", "--output-format=concise", "-q", cwd=project).stdout
    assert [line.partition(" TCL")[0] for line in out.splitlines()] == ["notes.ipynb:cell 3:4:20:"]


def test_a_file_that_is_no_notebook_stops_nothing_else(project: Path) -> None:
    (project / "broken.ipynb").write_text("{", encoding="utf-8")
    done = tclint("check", cwd=project)
    assert done.returncode == 2
    assert done.stderr.startswith("error: broken.ipynb:1:2: not a notebook: ")
    assert "Found 1 finding" in done.stdout


def test_notebooks_beside_what_is_verified_are_left_out_with_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = tuple(tmp_path / name for name in ("a.py", "b.ipynb", "c.ipynb", "d.ipynb"))
    inputs = Inputs(Config(tmp_path), files)
    left = without_notebooks(inputs, [tmp_path / "d.ipynb"])
    assert left.files == files[:1]
    assert [error.path for error in left.errors] == [files[3]]
    told = capsys.readouterr().err
    assert told.startswith(f"warning: {files[1]} and 1 other: notebooks cannot be verified")
