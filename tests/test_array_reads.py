"""Numbers of numpy arrays in compiled code: what tclint says, and what Dynamo does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dynamo import breaks
from tests.test_names_and_training import found

BEFORE = """\
import math

import numpy as np
import torch

weights = np.ones(3)
places = np.arange(3)


class Holder:
    def __init__(self):
        self.weights = np.ones(3)


holder = Holder()


"""
READS = (
    "x * weights.tolist()[0]",
    "x * float(weights[0])",
    "x * bool(weights[0])",
    "x * int(places[1])",
    "x * places.tolist()[1]",
    "x * weights.max().item()",
    "x * float(weights.max())",
    "x * np.array([1.0, 2.0]).sum().item()",
    "x[places[1]]",
    "x[: places[1]]",
    "torch.zeros(int(places[1]))",
    "math.sqrt(weights[0]) * x",
    "x.numpy().tolist()",
    "x * x.detach().cpu().numpy().tolist()[0]",
    "x * x.sum().numpy().item()",
    "x * float(x.numpy().sum())",
    "x * int(x.numpy()[0])",
    "x * x.numpy()[x.numpy().argmax()]",
    "x * x.numpy().astype(np.float64).sum().item()",
    "x if np.array_equal(x.numpy(), x.numpy()) else x + 1",
    "x if np.allclose(x.numpy(), 1) else x + 1",
)
BRANCHES = (
    "x if np.any(x.numpy() > 0) else x + 1",
    "x if x.numpy().any() else x + 1",
    "x if weights[0] > 0 else x + 1",
    "x if not x.numpy().any() else x + 1",
)
TRACED = (
    "x * weights[0]",
    "x * x.numpy().sum()",
    "x * np.max(x.numpy())",
    "x * len(x.numpy())",
    "x * x.numpy().shape[0]",
    "x * x.numpy().item(0)",
    "x * float(np.sqrt(2.0))",
    "x * int(np.ceil(x.shape[0] / 2))",
    "x * float(np.array(2.0))",
    "x * np.float32(2.0).item()",
    "x * np.maximum(weights, 2)",
    "x if len(weights) > 0 else x + 1",
    "torch.tensor(x.numpy())",
    "torch.from_numpy(np.where(x.numpy() > 0, 1, 2))",
)


def program(line: str) -> str:
    return f"{BEFORE}def f(x):\n    return {line}\n"


def codes(line: str, folder: Path) -> list[str]:
    text = program(line).replace("def f(x)", "@torch.compile\ndef f(x)")
    return [code for code, _ in found(text, folder, "TCL1")]


@pytest.mark.parametrize("line", READS)
def test_reads_are_found(line: str, tmp_path: Path) -> None:
    assert "TCL191" in codes(line, tmp_path)


@pytest.mark.parametrize("line", BRANCHES)
def test_branches_are_found_by_their_own_rule(line: str, tmp_path: Path) -> None:
    assert codes(line, tmp_path) == ["TCL160"]


@pytest.mark.parametrize("line", TRACED)
def test_what_is_traced_is_left_alone(line: str, tmp_path: Path) -> None:
    assert codes(line, tmp_path) == []


def test_a_number_of_what_nobody_knows_is_left_alone(tmp_path: Path) -> None:
    text = (
        "import numpy as np\nimport torch\n\n\n@torch.compile\n"
        "def f(x, size=None):\n    n = int(np.round(size / 2))\n    return x[:n]\n"
    )
    assert found(text, tmp_path, "TCL191") == []


def test_a_region_that_captures_scalars_reads_single_numbers(tmp_path: Path) -> None:
    text = program("x * float(x.numpy().max()) + x.numpy().tolist()[0]")
    text = text.replace("def f(x)", "@torch.compile(fullgraph=True)\ndef f(x)")
    assert len(found(text, tmp_path, "TCL191")) == 1


@pytest.mark.slow
@pytest.mark.parametrize("line", [*READS, *BRANCHES, *TRACED])
def test_dynamo_agrees(line: str) -> None:
    torch = pytest.importorskip("torch")
    assert breaks(program(line), torch.tensor([1.0, 2.0, 0.0])) == (line not in TRACED)
