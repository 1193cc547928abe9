"""Where Dynamo needs a constant and gets a tensor, an object, or what holds them.

Each program was compiled; the line that breaks the graph is the one to be told of.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from tclint.config import Config
from tclint.diagnostics import Effect
from tclint.lint.engine import check_files
from tests.dynamo import MEASURED, breaks_in_calls

HEAD = """\
import enum
from dataclasses import dataclass

import torch
from torch import nn

layer = nn.Linear(3, 3)
layers = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])
table = nn.ModuleDict({"a": nn.Linear(3, 3)})


class Plain:
    def __init__(self, n):
        self.n = n


@dataclass
class Data:
    n: object


class Kind(enum.Enum):
    A = 1


def helper():
    return 1


helper.calls = 0
plain = Plain(1)


def f(x: torch.Tensor):
"""


def texts(programs: str) -> dict[str, str]:
    """Each line of some is the body of a function."""
    lines = [line.strip() for line in programs.strip().splitlines()]
    return {
        line: HEAD + indent("\n".join(line.split("; ")), "    ") + "\n    return x + 1\n"
        for line in lines
    }


BREAKING = texts("""
    assert [x]
    assert [x], "m"
    assert (x,)
    assert {"a": x}
    assert {"a": [x]}
    assert [[x]]
    assert [None, x]
    assert x is not None and [x]
    assert [] or [x]
    assert [t for t in [x]]
    assert x.unbind()
    assert list(x)
    assert layer
    assert layer, "m"
    assert layers
    assert table
    assert [layer, 1], "m"
    assert plain
    assert plain.n and layer
    assert Plain(1)
    assert Data(x)
    assert [Data(1)]
    xs = [x]; assert xs
    xs = []; xs.append(x); assert xs
    y = [False] * x.sum().long()
    y = [0, 1] * x.long()[0]
    y = x.long()[0] * [0]
    y = (1,) * x.sum().long()
    y = "ab" * x.long()[0]
    y = min([x, x + 1], key=lambda t: t.sum())
    y = max([x, x + 1], key=lambda t: t.shape[0])
    y = min(x, x + 1, key=torch.sum)
    d = {"a": x, "b": x + 1}; y = d[min(d, key=lambda k: d[k].sum())]
    d = {"a": x.sum(), "b": x.sum() + 1}; y = min(d, key=d.get)
    y = min([(x, 1), (x + 1, 2)], key=lambda t: t[1])
    y = max([1, 2], key=lambda t: x.sum())
    y = max([x.sum()], default=3)
    y = min((i for i in range(3)), key=lambda i: -i)
    y = max(layers, key=lambda one: one.in_features)
    y = max([Plain(1), Plain(2)], key=lambda one: one.n)
    x = x + torch.zeros(3, requires_grad=True)
    x = x + torch.zeros_like(x, requires_grad=True)
    x = x + torch.tensor([1.0, 2, 3], requires_grad=True)
    x = x + torch.randn(3, requires_grad=True)
    x = x + torch.full((3,), 1.0, requires_grad=True)
    x = x + torch.rand_like(x, requires_grad=layer.training)
    helper.calls = 1
    helper.calls += 1
    setattr(helper, "calls", 1)
    x.squeeze_()
    x.t_()
    x.detach_()
    y = x; y.unsqueeze_(0)
    layer.requires_grad_(False)
    layers.requires_grad_(False)
""")
TRACED = texts("""
    assert [1]
    assert x.shape
    assert [x.shape[0]]
    assert {"a": 1}
    assert [[1]]
    assert [x] and x is not None
    assert [x] or []
    assert not []
    assert [x], f"{len([x])} parts"
    assert len([x])
    assert bool([x])
    assert bool(layer)
    assert layer is not None
    assert Kind.A
    assert [Kind.A]
    assert plain.n
    assert x.device
    assert range(3)
    y = [False] * x.shape[0]
    y = [False] * len(x)
    y = x * torch.tensor([1.0] * x.shape[0])
    y = min([x.sum(), x.max()])
    y = max(x.sum(), x.max())
    y = min([1, 2], key=lambda t: abs(t - 1))
    y = min([(3, 1), (1, 2)], key=lambda t: t[1])
    d = {"a": 1, "b": 2}; y = min(d, key=d.get)
    y = max([], default=3)
    y = max(1, 2, key=lambda t: -t)
    y = sorted([Plain(2), Plain(1)], key=lambda one: one.n)
    x = x + torch.zeros(3, requires_grad=False)
    x = x + x.new_zeros(3, requires_grad=True)
    x = x + torch.zeros(3)
    inner = lambda: 1; inner.calls = 1
    y = x * 1; y.squeeze_()
    y = x * 1; y.set_(x)
    y = x.squeeze()
""")


def told(folder: Path, text: str) -> bool:
    """Whether `check` names a graph break, for the release that the programs were measured on."""
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    config = Config(root=folder, compiled=("*:f",), settings=MEASURED)
    results = check_files([path], config).results
    return any(result.diagnostic.effect is Effect.GRAPH_BREAK for result in results)


@pytest.mark.parametrize("text", BREAKING.values(), ids=BREAKING.keys())
def test_what_is_no_constant_is_told(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, text)


@pytest.mark.parametrize("text", TRACED.values(), ids=TRACED.keys())
def test_a_constant_is_left_in_peace(tmp_path: Path, text: str) -> None:
    assert not told(tmp_path, text)


@pytest.mark.slow
@pytest.mark.parametrize("text", BREAKING.values(), ids=BREAKING.keys())
def test_dynamo_breaks_on_what_is_no_constant(text: str) -> None:
    assert breaks_in_calls(text, 1)


@pytest.mark.slow
@pytest.mark.parametrize("text", TRACED.values(), ids=TRACED.keys())
def test_dynamo_traces_constants(text: str) -> None:
    assert not breaks_in_calls(text, 1)
