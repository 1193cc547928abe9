"""``--explain-types`` and the words for what the analysis believes."""

from __future__ import annotations

import json
import subprocess
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
    Guess,
    Iteration,
    Mapping,
    NDArray,
    NumpyScalar,
    Object,
    Sequence,
    Static,
    Tensor,
)
from tests.cli_runs import tclint
from tests.semantics_probe import put

X = Tensor(dtype=DType("~x:Net.forward:3"))
WORDS = [
    (UNKNOWN, "unknown"),
    (NONE, "None"),
    (STATIC, "some constant"),
    (SYMINT, "size of a tensor"),
    (Static("int", 3, known=True), "constant 3"),
    (Static("bool", default=False), "bool constant, off by default"),
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
        Tensor(0, assumed=True, why="parameter `x` of `f`", guess=Guess.UNFOUNDED),
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
    return tclint("check", "--isolated", f"--explain-types={place}", *more, cwd=folder)


def test_a_line_is_explained_expression_by_expression(tmp_path: Path) -> None:
    put(tmp_path, {"net.py": NET})
    done = explained(tmp_path, "net.py:12")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:8] == [
        "in region `Net.forward` (the `forward` of a module counts as compiled)",
        "12:9  loss  number read from a tensor",
        "12:16  x  tensor (dtype of `x`, assumed: parameter `x` of `Net.forward`, used as one)",
        "  for a tensor: a parameter with no annotation and no default",
        "  for a tensor: used as a tensor in line 12",
        "12:16  x.sum()  tensor (rank 0, assumed): result of `sum`",
        "12:16  x.sum().item()  number read from a tensor",
        "12:16  TCL101 item-in-compiled-region  reported",
    ]


def test_a_column_is_explained_from_the_inside(tmp_path: Path) -> None:
    put(tmp_path, {"net.py": NET})
    done = explained(tmp_path, "net.py:12:19", "net.py")
    lines = [line.split("  ") for line in done.stdout.splitlines()]
    assert [
        parts[1] for parts in lines if parts[0].startswith("12:") and "TCL" not in parts[1]
    ] == [
        "x.sum",
        "x.sum()",
        "x.sum().item",
        "x.sum().item()",
    ]


@pytest.mark.parametrize(
    ("place", "line"),
    [
        pytest.param("net.py:13", "13:13  of(x)  unknown: not known what `unheard.of` gives"),
        pytest.param("net.py:19", "  for a tensor: calls pass tensor (dtype of `x`, assumed:"
                     " parameter `x` of `Net.forward`, used as one)", id="what calls pass"),
        pytest.param("net.py:14", "14:16  self.inner  module `Inner`"),
    ],
)  # fmt: skip
def test_reasons(tmp_path: Path, place: str, line: str) -> None:
    put(tmp_path, {"net.py": NET})
    lines = explained(tmp_path, place).stdout.splitlines()
    assert any(one.startswith(line) for one in lines), lines


def test_annotations_and_defaults_are_reasons(tmp_path: Path) -> None:
    put(tmp_path, {"net.py": NET.replace("of(x)", "of(ids)")})
    lines = explained(tmp_path, "net.py:13").stdout.splitlines()
    start = next(at for at, line in enumerate(lines) if "ids  " in line)
    assert lines[start : start + 3] == [
        "13:16  ids  tensor (int64) or None: annotated as a tensor",
        "  for a tensor: annotated `torch.LongTensor`",
        "  for a tensor: `None` by default, and named like a tensor",
    ]


def test_code_outside_of_regions_says_so(tmp_path: Path) -> None:
    put(tmp_path, {"net.py": NET})
    done = explained(tmp_path, "net.py:23")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "in no region: no compiled code is seen to call `plain`",
        "  nothing in the files that were read names it",
        "  `--scope all` checks it all the same; so does naming it in `compiled`",
    ]
    region, value, *_ = explained(tmp_path, "net.py:23", "--scope=all").stdout.splitlines()
    assert region == 'in region `plain` (with `scope = "all"` every function counts as compiled)'
    assert value.startswith("23:12  x  tensor")


def test_what_is_known_of_a_line_is_told_to_programs(tmp_path: Path) -> None:
    put(tmp_path, {"net.py": NET})
    told = json.loads(explained(tmp_path, "net.py:19", "--output-format=json").stdout)
    assert (told["name"], told["reached"], told["reasons"]) == ("Inner.forward", True, [])
    [region] = told["regions"]
    assert (region["root"], region["compiled_at"]) == ("Net.forward", None)
    assert [(link["function"], link["row"]) for link in region["chain"]] == [("Net.forward", 14)]
    assert [one["text"] for one in told["expressions"]] == ["h", "h * 2"]
    assert {piece["for_tensor"] for piece in told["expressions"][0]["evidence"]} == {True}
    outside = json.loads(explained(tmp_path, "net.py:23", "--output-format=json").stdout)
    assert (outside["reached"], outside["regions"]) == (False, [])
    assert outside["reasons"][0] == "no compiled code is seen to call `plain`"


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
    assert "an error in tclint" not in done.stderr
