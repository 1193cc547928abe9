"""Settings that remove findings, held to torch itself."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tclint.lint.claims import releases, split
from tclint.lint.registry import load_rules
from tclint.lint.rule import Bad, Rule, Untouched
from tclint.testing import examples_of, findings

from .cli_runs import tclint

if TYPE_CHECKING:
    from pathlib import Path

RULES = [pytest.param(rule, id=rule.code) for rule in load_rules() if rule.settings]


def settings_of(rule: Rule, code: str, folder: Path, torch: str = "") -> frozenset[str]:
    """The settings that the findings of a module offer, by name."""
    found = (remedy for one in findings(rule, code, folder, torch) for remedy in one.remedies)
    lines = (line for remedy in found for line in remedy.lines)
    return frozenset(line.partition(" ")[0].rpartition(".")[2] for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_torch_shows_no_break_with_the_settings_on(rule: Rule, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the proofs run torch.compile")
    from torch._dynamo import config

    from .dynamo import RELEASE
    from .proof.run import run_compiled, run_eager

    asked = 0
    for example in examples_of(rule):
        about = releases(example.torch)
        if not isinstance(example, Bad | Untouched) or not (about and about.holds(RELEASE)):
            continue
        names = settings_of(rule, example.code, tmp_path, example.torch)
        claims = [what for what, of in map(split, example.proves) if of and of.holds(RELEASE)]
        if not names or not any(one.startswith("GB") for one in claims):
            continue
        # The calls after the first are about what eager code does with odd arguments.
        inputs = f"{example.inputs}[:1]" if example.inputs.startswith("[") else example.inputs
        with config.patch(dict.fromkeys(names, True)):
            run = run_compiled(example.code, inputs)
        assert run.compilation.reasons == [], example.code
        assert bool(run.raised) is bool(run_eager(example.code, inputs).raised)
        asked += 1
    assert asked


STEP = """\
import torch


def step(x: torch.Tensor) -> torch.Tensor:
    n = x.max().item()
    return x[:3] * n + x[x > 0].prod()
"""
TRAIN = """\
import torch

from step import step

fast = torch.compile(step)
"""
SCALARS = "torch._dynamo.config.capture_scalar_outputs = True"
SHAPES = "torch._dynamo.config.capture_dynamic_output_shape_ops = True"


def remedies(folder: Path, *arguments: str) -> dict[str, list[dict[str, object]]]:
    """The settings that remove each rule's finding, as JSON has them."""
    run = tclint("check", ".", "--output-format", "json", *arguments, cwd=folder)
    return {one["code"]: one["settings"] for one in json.loads(run.stdout)}


def test_a_setting_is_offered_where_the_project_compiles(tmp_path: Path) -> None:
    (tmp_path / "step.py").write_text(STEP)
    (tmp_path / "train.py").write_text(TRAIN)
    found = remedies(tmp_path)
    [scalars] = found["TCL101"]
    assert scalars["lines"] == [SCALARS]
    assert scalars["places"] == [{"filename": str(tmp_path / "train.py"), "row": 5}]
    [both] = found["TCL170"]
    assert both["lines"] == [SCALARS, SHAPES]
    report = tclint("check", ".", cwd=tmp_path).stdout
    assert f"`{SCALARS}` and `{SHAPES}` before train.py:5 remove 1 finding (" in report
    assert found == remedies(tmp_path), "the cache tells the same"


def test_a_setting_that_is_on_already_is_not_offered(tmp_path: Path) -> None:
    (tmp_path / "step.py").write_text(STEP)
    (tmp_path / "train.py").write_text(TRAIN.replace("fast =", f"{SCALARS}\nfast ="))
    found = remedies(tmp_path)
    assert "TCL101" not in found
    assert found["TCL170"][0]["lines"] == [SHAPES]


def test_without_a_call_of_compile_the_place_is_the_reader_s_own(tmp_path: Path) -> None:
    net = "class Net(torch.nn.Module):\n    def forward(self, x):\n        return x[x > 0].sum()\n"
    (tmp_path / "net.py").write_text(f"import torch\n\n\n{net}")
    assert remedies(tmp_path, "--weak")["TCL170"][0]["places"] == []
    report = tclint("check", ".", "--weak", cwd=tmp_path).stdout
    assert (
        f"`{SCALARS}` and `{SHAPES}` before you call what you compile remove 1 finding;" in report
    )


@pytest.mark.parametrize(
    "use",
    [
        pytest.param("return x if n > 3 else x + 1", id="a branch"),
        pytest.param("return [x for _ in range(int(n))]", id="a count of rounds"),
        pytest.param("return {n: x}", id="a key"),
        pytest.param("return x * len(str(n))", id="a text"),
        pytest.param("return x * (n and 2)", id="a truth"),
        pytest.param("return unknown(x, n)", id="another function"),
        pytest.param("return [x, x][n]", id="a place in a list"),
    ],
)
def test_a_number_that_python_has_to_know_goes_with_no_setting(use: str, tmp_path: Path) -> None:
    head = "import torch\nfrom other import unknown\n\n\n@torch.compile\n"
    body = f"def f(x: torch.Tensor):\n    n = x.max().item()\n    {use}\n"
    (tmp_path / "step.py").write_text(head + body)
    assert remedies(tmp_path)["TCL101"] == []


def test_settings_that_the_project_s_torch_lacks_are_not_offered(tmp_path: Path) -> None:
    (tmp_path / "step.py").write_text(STEP + "\n\nfast = torch.compile(step)\n")
    assert remedies(tmp_path, "--min-torch", "2.0")["TCL101"] == []
    assert remedies(tmp_path, "--min-torch", "2.1")["TCL101"] != []


LINES = (f"{SCALARS}\n", f"{SHAPES}\n")


def written(folder: Path, train: str) -> str:
    """What ``--remedies settings`` makes of a file that compiles a step whose breaks go with it."""
    (folder / "step.py").write_text(STEP)
    (folder / "train.py").write_text(train)
    assert tclint("fix", ".", "--remedies", "settings", "--exit-zero", cwd=folder).returncode == 0
    after = (folder / "train.py").read_text()
    again = tclint("fix", ".", "--remedies", "settings", "--exit-zero", cwd=folder)
    assert "Fixed" not in again.stdout
    return after


IMPORTS = "import torch\nfrom step import step\n\n"


@pytest.mark.parametrize(
    "train",
    [
        pytest.param(IMPORTS + "#! \nfast = torch.compile(step)\n", id="a statement"),
        pytest.param(
            IMPORTS.replace("torch", "torch as t")
            + "#! \n@t.compile\ndef f(x):\n    return step(x)\n",
            id="a decorator",
        ),
        pytest.param(
            IMPORTS.replace("torch", "torch.nn")
            + "#! \nclass Net(torch.nn.Module):\n    @torch.compile\n    def forward(self, x):\n"
            "        return step(x)\n",
            id="a method of a class",
        ),
        pytest.param(
            IMPORTS + "def main(on):\n    if on < 1:\n        f = step\n    elif on > 1:\n"
            "        #! \n        f = torch.compile(step)\n    return f\n",
            id="a branch",
        ),
        pytest.param(
            IMPORTS
            + "#! \nfast = torch.compile(step)\nagain = torch.compile(step, dynamic=True)\n",
            id="the first of two",
        ),
        pytest.param(
            "from torch import compile\nfrom step import step\n\nfast = compile(step)\n",
            id="nowhere, for torch has no name there",
        ),
    ],
)
def test_settings_are_written_before_the_call(train: str, tmp_path: Path) -> None:
    before = re.sub(r" *#! \n", "", train)
    name = "t." if " as t" in train else "torch."
    after = re.sub(
        r"( *)#! \n",
        lambda mark: "".join(mark[1] + line.replace("torch.", name, 1) for line in LINES),
        train,
    )
    assert written(tmp_path, before) == after


def test_why_a_setting_is_not_written_is_told(tmp_path: Path) -> None:
    before = "from torch import compile\nfrom step import step\n\nfast = compile(step)\n"
    assert written(tmp_path, before) == before
    (tmp_path / "step.py").write_text(STEP)
    told = tclint("fix", ".", "--remedies", "settings", cwd=tmp_path).stdout
    assert "train.py, which compiles it, does not import torch by name" in told


def test_a_report_counts_the_findings_that_go_with_a_setting(tmp_path: Path) -> None:
    (tmp_path / "step.py").write_text(STEP)
    (tmp_path / "train.py").write_text(TRAIN)
    run = tclint("fix", ".", "--remedies", "settings", "--output-format", "json", cwd=tmp_path)
    fixes = {one["code"]: one for one in json.loads(run.stdout)["fixes"]}
    assert fixes["settings"]["settles"] == 1
    assert "may fail while compiling" in fixes["settings"]["changes"]
    assert "Fixed 2 findings" not in run.stdout


def test_other_inputs_are_for_proofs(tmp_path: Path) -> None:
    (tmp_path / "step.py").write_text(STEP)
    done = tclint("fix", "--vary", "x: 3x8", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert "--vary needs --verify" in " ".join(done.stderr.replace("│", " ").split())
    assert (tmp_path / "step.py").read_text() == STEP


def test_a_list_of_unknown_length_is_reported_where_numbers_are_captured(tmp_path: Path) -> None:
    [rule] = (rule for rule in load_rules() if rule.code == "TCL103")
    captured = "@torch.compile(fullgraph=True)\ndef f(x, y):\n"
    loop = "    for i in (x > 0).nonzero()[:, 0].tolist():\n        y[i] = 1\n"
    code = f"{captured}{loop}    return y\n"
    assert len(findings(rule, code, tmp_path)) == 1
    assert not findings(rule, code.replace("(x > 0).nonzero()[:, 0]", "x.long()"), tmp_path)
