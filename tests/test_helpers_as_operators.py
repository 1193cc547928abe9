"""A helper that draws or reads on the host becomes an operator: one graph, and eager's numbers."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tclint.config import Config, Settings
from tclint.fix.conflicts import apply_edits
from tclint.fix.edits import edits_for
from tclint.lint.engine import Run, check_files

HEAD = """\
from typing import Optional, Tuple

import numpy as np
import torch

KEPT = []


"""
DRAWS = """\
def draw(shape: Tuple[int, int], rate: float, lengths: Optional[torch.LongTensor] = None):
    rows, columns = shape
    picked = np.zeros((rows, columns), dtype=bool)
    sizes = lengths.detach().tolist() if lengths is not None else [columns] * rows
    for row, size in enumerate(sizes):
        count = int(rate * size + np.random.rand(1).item())
        picked[row, np.random.choice(np.arange(size), count, replace=False)] = True
    return picked


"""
COUNTS = """\
def count(shape: tuple[int, int], lengths: torch.Tensor):
    rows, columns = shape
    found = np.ones((rows, columns), dtype=np.int64)
    for row, size in enumerate(lengths.tolist()):
        found[row, size:] = 0
    return found


"""
DRAWN = """\
@torch.compile
def f(x: torch.Tensor, lengths: torch.Tensor):
    first = torch.tensor(draw((x.shape[0], x.shape[1]), 0.5), device=x.device)
    again = torch.tensor(draw((x.shape[0], x.shape[1]), 0.5), device=x.device)
    short = torch.tensor(draw(x.shape, rate=0.3, lengths=lengths), device=x.device)
    return torch.where(first, x, -x) + torch.where(again, x, x * 2) + short
"""
COUNTED = """\
@torch.compile
def f(x: torch.Tensor, lengths: torch.Tensor):
    return x * torch.from_numpy(count((x.shape[0], x.shape[1]), lengths))
"""
WORKS = {"draws": (DRAWS, DRAWN), "counts": (COUNTS, COUNTED)}
LEFT = {
    "elements with a gradient": ("dtype=np.int64", "dtype=np.float32"),
    "no dtype, which is of floats": (", dtype=np.int64", ""),
    "another result": ("    return found", "    return found if rows else lengths"),
    "a result that is bound anew": ("    return found", "    found = found.T\n    return found"),
    "a result that is reshaped": (
        "    return found",
        "    found.shape = (columns, rows)\n    return found",
    ),
    "a result that is kept": ("    return found", "    KEPT.append(found)\n    return found"),
    "a part that is kept": ("    return found", "    KEPT.append(found[0])\n    return found"),
    "a size that is data": ("np.ones((rows, ", "np.ones((int(lengths.sum()), "),
    "a size that changes": ("    found = ", "    rows += 1\n    found = "),
    "a tensor that is changed": ("    found = ", "    lengths.add_(1)\n    found = "),
    "a tensor that is kept": ("    found = ", "    KEPT.append(lengths)\n    found = "),
    "a tensor that another name changes": (
        "    found = ",
        "    a = lengths\n    a[0] = 1\n    found = ",
    ),
    "an argument without a type": ("lengths: torch.Tensor", "lengths"),
    "an argument of any type": ("tuple[int, int]", "object"),
    "a list, which the helper may change": ("tuple[int, int]", "list[int]"),
    "arguments of any number": ("lengths: torch.Tensor", "lengths: torch.Tensor, *more: int"),
    "a default that is computed": (
        "lengths: torch.Tensor",
        "lengths: torch.Tensor, n: int = len('a')",
    ),
    "a decorator": ("def count", "@torch.no_grad()\ndef count"),
    "a global": ("    found = ", "    global KEPT\n    found = "),
    "a name that is taken": ("def count", "count_op = 1\n\n\ndef count"),
    "a second definition": ("def count", "def count(a, b):\n    pass\n\n\ndef count"),
    "one that calls itself": (
        "    return found",
        "    if rows > 9:\n        count(shape, lengths)\n    return found",
    ),
}


def operated(code: str, folder: Path, **settings: Any) -> str:
    """The program with the first operator that its findings offer as an escape hatch."""
    results = found(code, folder, **settings).results
    assert results
    for result in results:
        if result.hatch is not None and "operator" in result.hatch.message:
            edits = edits_for(result.file, ast.parse(code), result.hatch)
            assert isinstance(edits, tuple), edits
            return apply_edits(result.file, edits)
    return code


def found(code: str, folder: Path, **settings: Any) -> Run:
    """What is reported of a program."""
    path = folder / "program.py"
    path.write_text(code, encoding="utf-8")
    return check_files([path], Config(root=folder, settings=Settings(**settings)))


def function(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(text.replace("@torch.compile\n", ""), names)
    return names["f"]


def outcome(run: Any) -> list[object]:
    np.random.seed(0)
    given = torch.arange(1.0, 25.0).reshape(3, 8), torch.tensor([8, 5, 3])
    return [run(*given).tolist() for _ in range(2)] + [np.random.rand()]


@pytest.mark.parametrize(("helper", "body"), WORKS.values(), ids=WORKS)
def test_compiled_code_gets_the_numbers_of_eager_code(
    helper: str, body: str, tmp_path: Path
) -> None:
    before = HEAD + helper + body
    after = operated(before, tmp_path)
    assert "custom_op" in after
    assert helper in after
    assert not found(after, tmp_path).results
    eager = outcome(function(before))
    assert outcome(function(after)) == eager
    torch._dynamo.reset()
    assert outcome(torch.compile(function(after), backend="aot_eager", fullgraph=True)) == eager


@pytest.mark.parametrize(("old", "new"), LEFT.values(), ids=LEFT)
def test_other_helpers_stay_functions(old: str, new: str, tmp_path: Path) -> None:
    before = HEAD + COUNTS.replace(old, new) + COUNTED
    assert before != HEAD + COUNTS + COUNTED
    assert operated(before, tmp_path) == before


def test_a_method_stays_one(tmp_path: Path) -> None:
    method = COUNTS.replace("def count(", "def count(self, ").replace("\n", "\n    ")
    body = COUNTED.replace("@torch.compile\ndef f(", "def forward(self, ").replace(
        "count(", "self.count("
    )
    net = f"class Net(torch.nn.Module):\n    {method.rstrip()}\n\n    " + body.replace(
        "\n", "\n    "
    )
    before = HEAD + net.rstrip() + "\n"
    assert operated(before, tmp_path) == before


def test_torch_before_effects_gets_no_operator_that_draws(tmp_path: Path) -> None:
    before = HEAD + DRAWS + DRAWN
    assert operated(before, tmp_path, min_torch=(2, 6)) == before
    counted = HEAD + COUNTS + COUNTED
    assert operated(counted, tmp_path, min_torch=(2, 6)) != counted
