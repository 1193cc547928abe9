"""tclint from Python: files that are checked, a block that is recorded, a notebook's cell."""

from __future__ import annotations

import ast
import linecache
import logging
import subprocess
import sys
import time
import types
from pathlib import Path
from typing import Any

import pytest

import tclint
from tclint.semantics.syntax import nodes
from tests.cli_runs import BREAKS
from tests.recorded_runs import SITE, record, run

BROKEN = """\
@torch.compile(backend="eager")
def broken(x):
    if x.max() > 0:
        x = x + 1
    return x
"""


def test_importing_tclint_loads_nothing_else() -> None:
    code = "import sys; before = {*sys.modules}; import tclint; print({*sys.modules} - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "{'tclint'}\n"


def test_files_are_checked_without_torch_and_findings_are_records(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(BREAKS)
    code = f"import sys, tclint; found = tclint.check({str(tmp_path)!r}); print(len(found), "
    code += "'torch' in sys.modules, [(one.code, one.span.start.row) for one in found])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1 False [('TCL101', 6)]\n"


def test_keys_are_put_over_what_the_configuration_says(tmp_path: Path) -> None:
    (tmp_path / "tclint.toml").write_text('ignore = ["TCL101"]\n')
    (tmp_path / "model.py").write_text(BREAKS)
    file = tmp_path / "model.py"
    assert len(tclint.check(file)) == 0
    assert len(tclint.check([file], isolated=True)) == 1
    assert len(tclint.check(file, isolated=True, config={"select": ["TCL2"]})) == 0
    with pytest.raises(tclint.UserError, match="unknown key 'selct'"):
        tclint.check(file, config={"selct": ["TCL2"]})


def test_a_path_that_is_not_there_is_told_and_the_others_are_checked(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(BREAKS)
    found = tclint.check([tmp_path / "model.py", tmp_path / "none.py"])
    assert (len(found), found.files) == (1, 1)
    assert [error.path.name for error in found.errors] == ["none.py"]


def test_marks_that_somebody_left_on_the_one_node_of_an_operator_lead_nowhere() -> None:
    tree = ast.parse("a + b")
    ast.Add().parent = tree  # type: ignore[attr-defined]
    operator = tree.body[0].value.op  # type: ignore[attr-defined]
    operator.parent = tree
    try:
        assert len(nodes(tree)) == 6
    finally:
        del operator.parent


@pytest.mark.slow
def test_a_block_is_recorded_and_the_process_is_as_before() -> None:
    pytest.importorskip("torch")
    import torch

    weight = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)

    @torch.compile(backend="eager")
    def loss_of(x: Any) -> Any:
        y = (weight * x).sum()
        if y > 100:
            y = y * 2
        return y

    trace = logging.getLogger("torch.__trace")
    function = torch.autograd.graph._engine_run_backward
    # Torch's own handler takes itself away when it is first called, recorded or not.
    torch.compile(lambda x: x + 1, backend="eager")(weight)
    before = {**vars(trace)}, [*trace.handlers], function.__code__, [*sys.meta_path]
    with tclint.recording(warm_up=2, window=(1, 4, 1)) as block:
        for n in range(14):
            loss_of(torch.ones(3) * n).backward()
            optimizer.step()
            time.sleep(0.01)
        with pytest.raises(tclint.UserError, match="still runs"):
            block.report()
    assert ({**vars(trace)}, [*trace.handlers], function.__code__, [*sys.meta_path]) == before
    (line,) = [line for line in block.answer.joined.lines if line.events]
    assert line.finding is not None
    assert line.finding.code == "TCL160"
    assert block.answer.priced
    assert "1 graph break" in block.report()
    with tclint.recording() as again:
        loss_of(torch.ones(3)).backward()
    assert again.answer.events == ()


@pytest.mark.slow
def test_an_exception_leaves_the_block_as_it_is_and_its_answer_is_there(tmp_path: Path) -> None:
    with pytest.raises(KeyError), tclint.recording() as block:
        raise KeyError("mine")
    block.write(tmp_path / "report.md")
    assert (tmp_path / "report.md").read_text().startswith("\nNote: ")


def test_a_command_that_is_recorded_is_not_recorded_twice(tmp_path: Path) -> None:
    block = "import tclint\nwith tclint.recording() as block:\n    pass\nprint(block.answer.notes)"
    told = "`tclint run` is already recording this process"
    assert told in record(tmp_path, block).out
    assert told not in record(tmp_path, block, TCLINT_RECORD="").out
    parts = f"import sys; sys.path.append({str(SITE)!r}); import tclint_recorder.start"
    assert told not in run(tmp_path, f"{parts}\n{block}").out


def test_blocks_cannot_be_nested() -> None:
    with (
        tclint.recording(),
        pytest.raises(tclint.UserError, match="cannot be nested"),
        tclint.recording(),
    ):
        pass


class Shell:
    """As much of IPython's shell as the extension asks for."""

    def __init__(self) -> None:
        self.execution_count = 0
        self.compile = types.SimpleNamespace(get_code_name=self.name, _filename_map={})
        self.names: dict[str, Any] = {}
        self.magics: dict[str, Any] = {}

    def name(self, raw: str, code: str, number: int) -> str:
        del code
        return f"<ipython-input-{number}-{len(raw)}>"

    def register_magic_function(self, function: Any, kind: str, name: str) -> None:
        self.magics[kind, name] = function

    def transform_cell(self, cell: str) -> str:
        return cell

    def run_cell(self, cell: str, *, store_history: bool = True) -> None:
        self.execution_count += store_history
        name = self.name(cell, cell, self.execution_count)
        linecache.cache[name] = len(cell), None, cell.splitlines(keepends=True), name
        self.compile._filename_map[name] = self.execution_count
        exec(compile(cell, name, "exec"), self.names)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Shell:
    found = Shell()
    package = types.SimpleNamespace(get_ipython=lambda: found)
    monkeypatch.setitem(sys.modules, "IPython", package)
    tclint.load_ipython_extension(found)
    return found


@pytest.mark.slow
def test_a_cell_is_told_with_what_cells_before_it_defined(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    shell.run_cell("import torch\n")
    shell.run_cell(BROKEN)
    shell.execution_count += 1
    shell.magics["cell", "tclint"](
        "", "broken(torch.ones(3))\n@torch.compile\ndef g(x):\n    print(x)\n"
    )
    told = capsys.readouterr().out
    assert "cell In[2], line 3  breaks the graph · `if` branches on the tensor" in told
    assert "cell In[3], line 4  `print` breaks the graph" in told
    assert "did not happen" in told
