"""Programs that differ only in which function of torch computes each element get one answer."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tclint.torch_facts.memory import gradient, only_computes
from tclint.torch_facts.operations import keeps_floats
from tclint.torch_facts.table import section
from tests.cli_runs import tclint

BRANCH = """
@torch.compile
def forward{number}(x: torch.Tensor):
    x = x.float()
    if x.sum() > 0:
        x = {x}
    return x
"""
STORE = """
@torch.compile
def forward{number}(x: torch.Tensor):
    x = x.float()
    mask = x > 0
    y = torch.zeros_like(x)
    y[mask] = {selected}
    return y
"""
UPDATE = """
@torch.compile
def forward{number}(x: torch.Tensor, w: torch.Tensor):
    x, w = x.float(), w.float()
    y = torch.zeros_like(x)
    mask = y > 0
    y[mask] = {selected} * w[mask]
    return y
"""
ELEMENTWISE = [
    name
    for name, forms in section("pointwise").items()
    if "t" in forms.split() and keeps_floats(name) and only_computes(name)
    if gradient(name) is not None and not name.startswith("torch.nn.A")
]


def _called(name: str, tensor: str) -> str:
    return f"{name}({tensor})" if name.startswith("torch.") else f"{tensor}.{name}()"


def _answers(program: str, folder: Path) -> dict[str, Any]:
    """By the name: the code of each finding, its fix and why there is none."""
    source, rows = "import torch\n", {}
    for number, name in enumerate(ELEMENTWISE):
        called = {"x": _called(name, "x"), "selected": _called(name, "x[mask]")}
        text = program.format(number=number, **called)
        first = source.count("\n")
        rows |= dict.fromkeys(range(first, first + text.count("\n") + 1), name)
        source += text
    (folder / "program.py").write_text(source)
    done = tclint("check", "--output-format", "json", "program.py", cwd=folder)
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for finding in json.loads(done.stdout):
        name = rows[finding["location"]["row"]]
        fix = finding["fix"] or {}
        told = json.dumps([fix.get("applicability"), fix.get("message"), finding["declined"]])
        found[name].append((finding["code"], told.replace(f"{name.rpartition('.')[2]}(", "NAME(")))
    return {name: tuple(found[name]) for name in ELEMENTWISE}


@pytest.mark.parametrize("program", [BRANCH, STORE, UPDATE], ids=["branch", "store", "update"])
def test_each_elementwise_function_gets_the_same_answer(program: str, tmp_path: Path) -> None:
    assert len(ELEMENTWISE) > 100
    answers = _answers(program, tmp_path)
    assert len({*answers.values()}) == 1
    assert answers["exp"]
