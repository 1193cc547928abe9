"""Which waits of eager code are worth saying."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files

FUNCTION = "import torch\n\n\ndef f(x: torch.Tensor, n: int, names: list[int]):\n"


def levels(body: list[str], folder: Path, code: str) -> list[str]:
    """How sure the findings in a compiled function are."""
    path = folder / "program.py"
    path.write_text(FUNCTION + "".join(f"    {line}\n" for line in body), encoding="utf-8")
    config = Config(folder, select=(code,), weak=True, compiled=("*:f",))
    return [one.diagnostic.confidence.value for one in check_files([path], config).results]


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (["assert (x > 0).all()"], 1),
        (["if n > 3:", "    assert (x > 0).all()"], 1),
        (["if x.max() > 3:", "    assert (x > 0).all()"], 0),
        (["if n > 3 and x.max() > 3:", "    assert (x > 0).all()"], 0),
    ],
    ids=["plainly", "below a number", "below a tensor", "below both"],
)
def test_an_assert_below_a_branch_that_waits(body: list[str], count: int, tmp_path: Path) -> None:
    assert len(levels(body, tmp_path, "TCL301")) == count


@pytest.mark.parametrize(
    ("made", "level"),
    [
        ("torch.tensor([n + i for i in names]).to(x.device)", "low"),
        ("torch.tensor([n, 2]).to(x.device)", "low"),
        ("torch.tensor([1, 2]).to(x.device)", "high"),
        ("torch.tensor(n).to(x.device)", "high"),
        ("torch.zeros(n).to(x.device)", "high"),
    ],
)
def test_lists_that_the_step_makes_come_from_the_host(
    made: str, level: str, tmp_path: Path
) -> None:
    assert levels([f"return x + {made}"], tmp_path, "TCL310") == [level]


@pytest.mark.parametrize("made", ["torch.tensor([]).to(x.device)", "torch.tensor([]).to(x)"])
def test_nothing_takes_no_copy(made: str, tmp_path: Path) -> None:
    assert levels([f"return torch.cat([x, {made}])"], tmp_path, "TCL310") == []


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (["return x[list(range(3))]"], 1),
        (["y = torch.ones(n)", "return y[list(range(3))]"], 0),
        (["y = torch.ones(n, device=x.device)", "return y[list(range(3))]"], 1),
    ],
    ids=["an input", "created on the host", "made on a device"],
)
def test_an_index_of_a_tensor_on_the_host_stays_there(
    body: list[str], count: int, tmp_path: Path
) -> None:
    assert len(levels(body, tmp_path, "TCL320")) == count


@pytest.mark.parametrize(
    ("split", "count"), [("q, k, v = x.unbind(-1)", 0), ("q, k, v = x.unbind(0)", 1)]
)
def test_queries_without_features_are_no_attention(split: str, count: int, tmp_path: Path) -> None:
    body = [split, "w = (q @ k.transpose(-2, -1)).softmax(dim=-1)", "return w @ v"]
    assert len(levels(body, tmp_path, "TCL606")) == count
