"""``--explain-types`` and the words for what the analysis believes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tclint.semantics.lattice import join
from tclint.semantics.readable import readable
from tclint.semantics.values import (
    NONE,
    STATIC,
    SYMINT,
    UNKNOWN,
    Compiled,
    DataScalar,
    DType,
    External,
    Iteration,
    Mapping,
    NDArray,
    NumpyScalar,
    Object,
    Sequence,
    Static,
    Tensor,
)
from tests.semantics_probe import put

X = Tensor(dtype=DType("~x:Net.forward:3"))
WORDS = [
    (UNKNOWN, "unknown"),
    (NONE, "None"),
    (STATIC, "some constant"),
    (SYMINT, "size of a tensor"),
    (Static("int", 3, known=True), "constant 3"),
    (Static("bool", default_off=True), "bool constant, off by default"),
    (Tensor(), "tensor"),
    (X, "tensor (dtype of `x`)"),
    (Tensor(2, DType("int64", "int")), "tensor (rank 2, int64)"),
    (Tensor(dtype=DType("~pkg.net:3:4", "float")), "tensor (some float dtype)"),
    (Tensor(dtype=DType("~op(~x:f:3)")), "tensor"),
    (Tensor(device="cpu", role="buffer"), "tensor (on cpu, buffer)"),
    (Tensor(device="like:x.device"), "tensor (on the device of x.device)"),
    (Tensor(random=True, from_compiled=True), "tensor (random, made by compiled code)"),
    (Tensor(assumed=True, why="arithmetic"), "tensor (assumed)"),
    (
        Tensor(0, assumed=True, why="parameter `x` of `f`"),
        "tensor (rank 0, assumed: parameter `x` of `f`)",
    ),
    (DataScalar("float"), "float read from a tensor"),
    (NDArray(from_tensor=True), "numpy array that shares a tensor"),
    (NumpyScalar("int"), "numpy int"),
    (Object("Net", is_module=True), "module `Net`"),
    (Object("logging.Logger"), "object of `logging.Logger`"),
    (Compiled(Object("Net", is_module=True)), "compiled module `Net`"),
    (External("builtins.len"), "`len`"),
    (Sequence("list", X), "list of tensor (dtype of `x`)"),
    (Sequence("tuple", items=(SYMINT,) * 6), "tuple (" + "size of a tensor, " * 4 + "2 more)"),
    (Sequence("tuple", items=()), "tuple (empty)"),
    (Sequence("Size", SYMINT), "sizes of a tensor"),
    (Mapping((("a", NONE),)), "dict ('a': None)"),
    (Mapping((), X), "dict of tensor (dtype of `x`)"),
    (Iteration(X), "iterable of tensor (dtype of `x`)"),
    (Iteration(STATIC, "shape"), "range over a size"),
    (join([X, NONE]), "tensor (dtype of `x`) or None"),
]


@pytest.mark.parametrize(("value", "words"), WORDS, ids=[words for _, words in WORDS])
def test_values_are_put_in_words(value: object, words: str) -> None:
    assert readable(value) == words  # type: ignore[arg-type]


NET = """\
import torch
from torch import nn
from unheard import of


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x, ids: torch.LongTensor = None):
        loss = x.sum().item()
        y = of(x)
        return self.inner(x, [1]), loss, y


class Inner(nn.Module):
    def forward(self, h, sizes=None):
        return h * 2


def plain(x):
    return x
"""


def explained(folder: Path, place: str, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tclint", "check", "--isolated", f"--explain-types={place}", *more],
        cwd=folder, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_a_line_is_explained_expression_by_expression(tmp_path: Path) -> None:
    put(tmp_path, {"net.py": NET})
    done = explained(tmp_path, "net.py:12")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "12:9  loss  number read from a tensor",
        "12:16  x  tensor (dtype of `x`, assumed: parameter `x` of `Net.forward`)",
        "12:16  x.sum()  tensor (rank 0, assumed): result of `sum`",
        "12:16  x.sum().item()  number read from a tensor",
    ]


def test_a_column_is_explained_from_the_inside(tmp_path: Path) -> None:
    put(tmp_path, {"net.py": NET})
    done = explained(tmp_path, "net.py:12:19", "net.py")
    assert [line.split("  ")[1] for line in done.stdout.splitlines()] == [
        "x.sum",
        "x.sum()",
        "x.sum().item",
        "x.sum().item()",
    ]


@pytest.mark.parametrize(
    ("place", "line"),
    [
        pytest.param("net.py:13", "13:13  of(x)  unknown: not known what `unheard.of` gives"),
        pytest.param("net.py:19", "19:16  h  tensor (dtype of `x`, assumed: parameter `x` of"
                     " `Net.forward`); calls pass ", id="what calls pass"),
        pytest.param("net.py:14", "14:16  self.inner  module `Inner`"),
    ],
)  # fmt: skip
def test_reasons(tmp_path: Path, place: str, line: str) -> None:
    put(tmp_path, {"net.py": NET})
    lines = explained(tmp_path, place).stdout.splitlines()
    assert any(one.replace(": calls", "; calls").startswith(line) for one in lines), lines


def test_annotations_and_defaults_are_reasons(tmp_path: Path) -> None:
    put(tmp_path, {"net.py": NET.replace("of(x)", "of(ids)")})
    [line] = [n for n in explained(tmp_path, "net.py:13").stdout.splitlines() if "ids  " in n]
    assert line == (
        "13:16  ids  tensor (int64) or None: annotated as a tensor;"
        " annotated `torch.LongTensor`; `None` by default"
    )


def test_code_outside_of_regions_is_not_explained(tmp_path: Path) -> None:
    put(tmp_path, {"net.py": NET})
    done = explained(tmp_path, "net.py:23")
    assert (done.returncode, done.stdout) == (0, "")
    assert "net.py:23: no expression here is in code that counts as compiled" in done.stderr
    assert explained(tmp_path, "net.py:23", "--scope=all").stdout.startswith("23:12  x  tensor")


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("net.py", "expected FILE:LINE or FILE:LINE:COL, got 'net.py'"),
        ("net.py:0", "expected FILE:LINE"),
        ("net.py:x", "expected FILE:LINE"),
        ("gone.py:3", "gone.py: no such file"),
        ("broken.py:1", "broken.py: cannot be read as Python"),
    ],
)
def test_a_place_that_is_none_is_an_error(tmp_path: Path, place: str, message: str) -> None:
    put(tmp_path, {"net.py": NET, "broken.py": "def f(:\n"})
    done = explained(tmp_path, place)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
