"""Programs that differ only in which function of torch computes each element get one answer."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the answers are held against torch itself")

import torch

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


WRITTEN = """
import torch
import torch.nn.functional as F


@torch.compile
def forward(x: torch.Tensor):
    y = x.float() * 2
    y[y > 1] = {}
    return y
"""
KEPT = ["y.sin()", "y.abs()", "F.gelu(y)", "y * y", "torch.log(y)"]
NOT_KEPT = [
    "y.exp()", "y.neg()", "y.tanh()", "y.reciprocal()", "y * 2", "(y * 2).sin()",
    "torch.clamp(1 - y / 2, max=3)", "F.relu(y)",
]  # fmt: skip


@pytest.mark.parametrize("expression", KEPT + NOT_KEPT)
def test_a_store_is_declined_where_the_backward_pass_needs_what_it_overwrites(
    expression: str, tmp_path: Path
) -> None:
    source = WRITTEN.format(expression.replace("y", "y[y > 1]"))
    (tmp_path / "program.py").write_text(source)
    done = tclint("check", "--output-format", "json", "program.py", cwd=tmp_path)
    (finding,) = {one["declined"] for one in json.loads(done.stdout)}
    is_kept = finding == "the backward pass needs what `y` held before the store"
    assert is_kept == (expression in KEPT) == _raises(expression)


def _raises(expression: str) -> bool:
    """Whether the backward pass notices that `y` was written behind the expression."""
    x = torch.tensor([[-1.0, 0.6, 2.0]], requires_grad=True)
    y = x * 2
    made = eval(expression, {"torch": torch, "F": torch.nn.functional, "y": y})
    y.copy_(torch.where(y > 1, made, y))
    try:
        y.sum().backward()
    except RuntimeError:
        return True
    return False
