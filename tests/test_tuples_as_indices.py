"""A tuple names one element: only lists and ranges that name several become positions."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the programs run torch")

import torch

from tclint.config import Config

from .proof.witness import assert_kept

INDICES = (
    "tuple(range(2))",
    "tuple(range(x.dim()))",
    "tuple(list(range(2)))",
    "tuple(np.arange(2))",
    "tuple(i for i in range(2))",
    "(tuple(range(2)),)",
    "tuple(range(2)), 1",
    "(tuple(range(2)), tuple(range(2)))",
    "(*range(2),)",
    "*range(2),",
    "list(range(2))",
    "range(2)",
    "range(2, 0, -1)",
    "range(0)",
    "tuple(range(0))",
    "tuple(range(2)) if x.dim() else list(range(2))",
    "np.arange(2)",
    "[range(2), range(2)]",
    "kept",
    "kept if x.dim() else list(kept)",
)
USES = ("return x[{index}]", "x[{index}] = 7\n    return x", "x[{index}] += 7\n    return x")
PROGRAM = """\
import numpy as np
import torch


def f(x: torch.Tensor):
    x, kept = x * 1, tuple(range(2))
    {use}
"""


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("index", INDICES)
def test_an_index_means_what_it_meant(index: str, use: str, tmp_path: Path) -> None:
    code = PROGRAM.format(use=use.format(index=index))
    config = Config(root=tmp_path, compiled=("*:f",), select=("TCL320",))
    assert_kept(code, [(torch.arange(9.0).reshape(3, 3),)], tmp_path, config)


@pytest.mark.parametrize("value", [{}, [1, 2, 3]], ids=["a dict", "a list"])
def test_what_is_no_tensor_keeps_its_index(value: object, tmp_path: Path) -> None:
    code = "import torch\n\n\ndef f(x):\n    x[range(2)] = 3\n    return x\n"
    config = Config(root=tmp_path, compiled=("*:f",), select=("TCL320",))
    assert_kept(code, [(value,)], tmp_path, config)
