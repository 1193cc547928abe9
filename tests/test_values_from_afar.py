"""What a value is, where it comes from an annotation, a caller, an optimizer, a module.

Each program was compiled with Dynamo: a break there is to be told.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.diagnostics import Effect
from tclint.lint.engine import check_files
from tests.dynamo import MEASURED, breaks
from tests.test_plain_objects import programs

HEAD = """\
from typing import Dict, TypedDict

import torch
from torch import Tensor, nn

import json as elsewhere


"""

BREAKING = {
    name: f"{HEAD}{definition}\n\n{use}\n"
    for name, (definition, use) in programs("""
# a number that a caller passes as a tensor
def scaled(x, limit: float):
    if limit > 1:
        return x * limit
    return x
---
def f(x: Tensor):
    return scaled(x, x.max())

# a number of a method that a caller passes by name
class Net:
    def cut(self, x, limit: float = 1.0, *, count: int = 2):
        if limit > 0:
            return x[:2]
        return x * limit
---
def f(x: Tensor):
    return Net().cut(x, limit=x.mean(), count=1)

# a number of a module that eager code passes as a tensor
class Net(nn.Module):
    def forward(self, x: Tensor, temperature: float = 1.0):
        if temperature > 1:
            return x / temperature
        return x
---
net = Net()
compiled = torch.compile(net, backend="eager")
seen = compiled(torch.ones(3), torch.tensor(0.5))
f = lambda x: compiled(x, torch.tensor(0.5))

# a dict that is known in part
---
def f(x: Tensor):
    kept: Dict[str, Tensor] = {}
    for name in elsewhere.loads('["a"]'):
        kept[name] = x
    return x * kept["a"].sum().item()

# a dict that a function makes
def made(x) -> Dict[str, Tensor]:
    kept = {"b": x}
    kept.update(elsewhere.loads("{}"))
    kept.setdefault("a", x)
    return kept
---
def f(x: Tensor):
    return x * made(x)["a"].sum().item()

# what a function promises
class Kept(TypedDict):
    a: Tensor

def made(x) -> Kept:
    return getattr(x, "no", {"a": x})
---
def f(x: Tensor):
    return x * made(x)["a"].sum().item()

# a variable of the function around
def make():
    limit = torch.ones(3)
    def inner(x):
        if limit.sum() > 1:
            return x
        return x + limit
    return inner
---
f = make()
compiled = torch.compile(f)

# a variable that is bound after the function
---
def f(x: Tensor):
    def late():
        return total.item()
    total = x.sum()
    return x * late()

# parameters of a layer
layer = nn.Linear(3, 3)
---
def f(x: Tensor):
    for p in layer.parameters():
        if p.norm() > 1:
            x = x + 1
    return x

# named parameters of a list of layers
layers = nn.ModuleList([nn.Linear(3, 3)])
---
def f(x: Tensor):
    for name, p in layers.named_parameters():
        x = x * p.norm().item()
    return x

# the first parameter
layer = nn.Linear(3, 3)
---
def f(x: Tensor):
    return x * next(layer.parameters()).sum().item()

# gradients of an optimizer's parameters
layer = nn.Linear(3, 3)
layer(torch.ones(3)).sum().backward()
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
---
def f(x: Tensor):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad.norm() > 1:
                x = x + 1
    return x

# the learning rate of an optimizer
layer = nn.Linear(3, 3)
optimizer = torch.optim.SGD(layer.parameters(), lr=torch.tensor(0.1))
---
def f(x: Tensor):
    return x * optimizer.param_groups[0]["lr"].item()

# an optimizer of one's own
class Own(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad.norm() > 1:
                    p.grad.mul_(0.5)

layer = nn.Linear(3, 3)
layer(torch.ones(3)).sum().backward()
optimizer = Own(layer.parameters())
---
def f(x: Tensor):
    optimizer.step()
    return x

# the size that a tensor gives what is not known
---
def f(x: Tensor):
    n = x.long().max()
    return elsewhere.loads("[]") or getattr(x, "clone")().view(n, -1)

# the counts that a tensor gives what is not known
---
def f(x: Tensor):
    return getattr(x, "clone")().repeat_interleave(x.long())
""").items()
}  # fmt: skip


@pytest.mark.parametrize("text", BREAKING.values(), ids=BREAKING.keys())
def test_a_break_behind_a_value_from_afar_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "program.py"
    path.write_text(text, encoding="utf-8")
    results = check_files(
        [path], Config(root=tmp_path, compiled=("*:f",), settings=MEASURED)
    ).results
    assert any(result.diagnostic.effect is Effect.GRAPH_BREAK for result in results)


@pytest.mark.slow
@pytest.mark.parametrize("text", BREAKING.values(), ids=BREAKING.keys())
def test_dynamo_breaks_behind_a_value_from_afar(text: str) -> None:
    torch = pytest.importorskip("torch")
    assert breaks(text, torch.ones(3))
