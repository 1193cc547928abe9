"""Notebooks that ran: cells are told by their number, with their source, and checked together."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.diagnostics import Fix
from tclint.report.painted import painted_diff
from tclint.report.repairs import fix_of
from tclint.run.read import read_folder
from tclint.run.report import as_html, as_json, as_markdown, text
from tclint.run.session import Answer, answer
from tests.recorded_runs import record
from tests.run_recordings import SCRIPT, Recording

NAME = "/tmp/ipykernel_7/1234.py"
OTHER = "/tmp/ipykernel_7/999.py"
TIMED = "<timed exec>"
GUARD = "0/0: self.n == 7  # {name}:12 in masked"
Cells = Sequence[tuple[str, int, str]]


def magic(name: str, body: str) -> str:
    return f"get_ipython().run_cell_magic({name!r}, '', {body!r})\n"


def notebook(folder: Path, cells: Cells, ran: str = NAME, *outer: str) -> Answer:
    """What is told of a loop that ran under a name, below the first rows of other cells."""
    recording = Recording(folder)
    told = [
        {"kind": "cell", "filename": name, "name": f"In[{number}]", "text": code}
        for name, number, code in cells
    ]
    again = recording.compiled("0/1", recompile_reason=GUARD.format(name=recording.script))
    samples = recording.samples({5: 100})
    for stack in samples["stacks"]:
        stack[:0] = [{"filename": name, "row": 1, "function": "<module>"} for name in outer]
    recording.process(
        recording.break_line(), recording.compiled(), again, recording.steps(), samples,
        recording.end(), *told,
    )  # fmt: skip
    (file,) = recording.folder.glob("*.jsonl")
    file.write_text(file.read_text().replace(str(recording.script), ran))
    recording.script.unlink()
    return answer((), None, read_folder(recording.folder), recording.folder, Config(folder))


def rows(told: Answer) -> set[tuple[str, int]]:
    return {(line.filename, line.row) for line in told.joined.lines if line.events}


def test_a_cell_has_its_number_its_source_and_its_findings_in_all_reports(tmp_path: Path) -> None:
    told = notebook(tmp_path, [(OTHER, 1, "import torch\n"), (NAME, 3, SCRIPT)])
    assert rows(told) == {("In[3]", 12)}
    (line,) = [line for line in told.joined.lines if line.events]
    assert line.finding is not None
    assert (line.finding.code, line.finding.span.start.row) == ("TCL170", 12)
    for render in (text.render, as_markdown.render, as_html.render):
        assert "cell In[3], line 5" in render(told, tmp_path)
    assert "host time: loss = model(x).sum()" in text.render(told, tmp_path)
    assert '<b>    5' in as_html.render(told, tmp_path)  # fmt: skip
    data = json.loads(as_json.render(told, tmp_path))
    assert data["cells"]["In[3]"] == SCRIPT
    assert {line["path"] for line in data["lines"]} == {None}


def test_a_cell_uses_what_those_before_it_define(tmp_path: Path) -> None:
    before = "import torch\nfrom torch import nn\nnet = nn.Linear(2, 2)\n"
    loop = SCRIPT + "optimizer = torch.optim.AdamW(net.parameters())\n"
    after = "print('the next cell')\n"
    told = notebook(tmp_path, [(OTHER, 1, before), (NAME, 2, loop), ("/later.py", 3, after)])
    (line,) = [one for one in told.joined.lines if one.finding and one.finding.code == "TCL507"]
    assert line.row == loop.count("\n")
    assert line.result is not None
    fix = fix_of(line.result)
    assert isinstance(fix, Fix)
    changed = painted_diff(line.result.file, fix.edits)
    assert "fused=" in changed
    assert "the next cell" not in changed


def test_what_time_runs_is_told_at_the_rows_of_its_cell(tmp_path: Path) -> None:
    cells = [(OTHER, 4, magic("time", SCRIPT))]
    assert rows(notebook(tmp_path, cells, TIMED, OTHER)) == {("In[4]", 13)}


def test_of_several_timed_cells_the_one_that_was_seen_is_told(tmp_path: Path) -> None:
    cells = [(OTHER, 4, magic("time", SCRIPT)), (NAME, 5, magic("time", "import torch\n"))]
    assert rows(notebook(tmp_path, cells, TIMED, OTHER)) == {("In[4]", 13)}


def test_cells_that_cannot_be_told_apart_are_not_guessed(tmp_path: Path) -> None:
    cells = [(OTHER, 4, magic("time", SCRIPT)), (NAME, 5, magic("time", "import torch\n"))]
    told = notebook(tmp_path, cells, TIMED)
    assert any("In[4], In[5]" in note for note in told.notes)
    assert all(filename.startswith("<") for filename, _ in rows(told))


def test_what_capture_runs_as_a_cell_of_its_own_is_told_in_the_cell_that_shows_it(
    tmp_path: Path,
) -> None:
    cells = [(OTHER, 4, magic("capture", SCRIPT)), (NAME, 5, SCRIPT)]
    assert rows(notebook(tmp_path, cells, NAME, OTHER)) == {("In[4]", 13)}


def test_a_cell_that_is_no_python_takes_no_finding_of_others_along(tmp_path: Path) -> None:
    cells = [(OTHER, 1, "def broken(:\n"), (NAME, 2, SCRIPT)]
    told = notebook(tmp_path, cells)
    assert {line.finding.code for line in told.joined.lines if line.finding} >= {"TCL170"}


def test_two_texts_of_one_number_are_two_cells(tmp_path: Path) -> None:
    told = notebook(tmp_path, [(OTHER, 3, "import torch\n"), (NAME, 3, SCRIPT)])
    assert rows(told) == {("In[3] (2)", 12), ("In[3] (2)", 11)}


SHELL = """\
    import linecache, sys, types
    import torch

    weight = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    CELL = '''for _ in range(12):
        (weight * 2).sum().backward()
        optimizer.step()
    '''
    numbers = {}
    shell = types.SimpleNamespace(compile=types.SimpleNamespace(_filename_map=numbers))
    sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
    for number, text in enumerate(("x = 1", CELL), start=1):
        name = f"/nowhere/{number}.py"
        numbers[name] = number
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
        exec(compile(text, name, "exec"))
"""


@pytest.mark.slow
def test_cells_are_written_once_each_and_before_a_program_may_be_killed(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    killed = f"{SHELL}\n    import os, signal\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    for program in (SHELL, killed):
        cells = record(tmp_path, program).lines("cell")
        assert [(one["filename"], one["name"]) for one in cells[:2]] == [
            ("/nowhere/1.py", "In[1]"),
            ("/nowhere/2.py", "In[2]"),
        ]
    assert cells[1]["text"].startswith("for _ in range(12):\n")


@pytest.mark.slow
def test_a_notebook_that_a_kernel_runs_is_told_by_its_cells(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    formats = pytest.importorskip("nbformat")
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = ["import torch\nimport time\nw = torch.ones(3, requires_grad=True)"]
    cells.append("optimizer = torch.optim.SGD([w], lr=0.1)")
    loop = "for _ in range(40):\n    (w * 2).sum().backward()\n    optimizer.step()\n"
    cells.append(f"%%time\n{loop}    time.sleep(0.01)")
    made = formats.v4.new_notebook(cells=[formats.v4.new_code_cell(cell) for cell in cells])
    formats.write(made, tmp_path / "train.ipynb")
    command = [sys.executable, "-m", "tclint", "run", "--", "jupyter", "execute", "train.ipynb"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "cell In[3], line 5" in done.stdout
