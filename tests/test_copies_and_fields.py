"""Calls that Dynamo traces or not for what they are given: what tclint and Dynamo say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dynamo import breaks, skip_before
from tests.test_names_and_training import found

BEFORE = """\
import copy
import dataclasses
import os
from dataclasses import asdict, dataclass

import torch


@dataclass
class Output:
    logits: torch.Tensor
    steps: int = 1


@dataclass
class Sizes:
    steps: int = 1
    name: str = "x"


sizes = Sizes()
layer = torch.nn.Linear(2, 2)
os.environ["TCLINT_TEST"] = "1"


"""
REFUSED = (
    "copy.deepcopy(x)",
    "copy.deepcopy(layer)(x)",
    "copy.deepcopy([x])[0]",
    "copy.deepcopy((1, x))[1]",
    "copy.deepcopy({'a': [x]})['a'][0]",
    "copy.deepcopy(Output(x)).logits",
    "asdict(Output(x))['logits']",
    "dataclasses.astuple(Output(x))[0]",
    "copy.copy(x)",
    "copy.copy([x])[0]",
    "copy.copy({'a': x})['a']",
    "x + len(dataclasses.fields(Sizes))",
    "x * len(dataclasses.make_dataclass('A', ['a']).__name__)",
    "x if os.environ.pop('TCLINT_TEST', None) else x + 1",
    "x if os.unsetenv('TCLINT_TEST') else x + 1",
)
TRACED = (
    "x * copy.deepcopy(2)",
    "x * copy.deepcopy({'a': [2]})['a'][0]",
    "x * copy.deepcopy(sizes).steps",
    "copy.copy((x, 1))[0]",
    "x * copy.copy(sizes).steps",
    "x * asdict(Sizes())['steps']",
    "x + len(dataclasses.fields(sizes))",
    "x + len(dataclasses.fields(Output(x)))",
    "dataclasses.replace(Output(x), steps=2).logits",
    "x if os.environ.get('TCLINT_TEST') else x + 1",
    "x + len(os.environ.copy())",
)


def program(line: str) -> str:
    return f"{BEFORE}def f(x: torch.Tensor):\n    return {line}\n"


def codes(line: str, folder: Path) -> list[str]:
    text = program(line).replace("def f(x", "@torch.compile\ndef f(x")
    return [code for code, _ in found(text, folder, "TCL1")]


@pytest.mark.parametrize("line", REFUSED)
def test_what_breaks_the_graph_is_found(line: str, tmp_path: Path) -> None:
    assert codes(line, tmp_path) == ["TCL180"]


@pytest.mark.parametrize("line", TRACED)
def test_what_is_traced_is_left_alone(line: str, tmp_path: Path) -> None:
    assert codes(line, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("line", [*REFUSED, *TRACED])
def test_dynamo_agrees(line: str) -> None:
    torch = pytest.importorskip("torch")
    if "copy.copy" in line or "copy.deepcopy" in line:
        skip_before((2, 12))
    assert breaks(program(line), torch.ones(2)) == (line in REFUSED)
