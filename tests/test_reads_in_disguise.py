"""Reads that do not look like ``t.item()``: each breaks the graph, and each is found."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the programs are compiled")

from tclint.config import Config
from tclint.diagnostics import Effect
from tclint.lint.engine import check_files

from .dynamo import HERE
from .proof.run import run_compiled

_BREAKS = [
    "return torch.Tensor.item(x.sum())",
    "return torch.Tensor.item((+x)[0, 0])",
    "return torch.Tensor.tolist(x)",
    "return torch.Tensor.__float__(x.sum())",
    "return x.tensor_split(2)[0].max().item()",
    "a, b = x.tensor_split(2)\n    return a[0, 0].item()",
    "import operator\n    operator.setitem(x, 0, 4)\n    return x",
    "import operator\n    kept = [1]\n    operator.delitem(kept, 0)\n    return x",
    "import operator\n    return x + operator.indexOf([1, 2], 2)",
]
_TRACED = [
    "return torch.Tensor.add(x, 1)",
    "return torch.Tensor.sum(x, 0)",
    "return x.tensor_split(2)[0].max()",
    "import operator\n    return operator.add(x, 1)",
]


def _breaks_found(code: str, folder: Path) -> int:
    path = folder / "program.py"
    path.write_text("import torch\n" + code)
    results = check_files([path], Config(root=folder, settings=HERE)).results
    return sum(result.diagnostic.effect is Effect.GRAPH_BREAK for result in results)


def _code(body: str) -> str:
    return f"@torch.compile\ndef f(x: torch.Tensor):\n    {body}\n"


@pytest.mark.parametrize("body", _BREAKS)
def test_a_read_in_disguise_is_found_and_breaks(body: str, tmp_path: Path) -> None:
    assert _breaks_found(_code(body), tmp_path) == 1
    assert run_compiled(_code(body), "(torch.rand(4, 4),)").compilation.reasons


@pytest.mark.parametrize("body", _TRACED)
def test_its_like_that_is_traced_is_not_reported(body: str, tmp_path: Path) -> None:
    assert _breaks_found(_code(body), tmp_path) == 0
    assert not run_compiled(_code(body), "(torch.rand(4, 4),)").compilation.reasons
