"""Objects whose class an annotation names: a base that declares methods, members with their types.

Each program was compiled with Dynamo.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dynamo import breaks_in_calls
from tests.test_plain_objects import programs
from tests.test_rewritten_state import told

HEAD = """\
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn


"""
BREAKING = programs("""
# a base that declares
class Base:
    def scale(self, x):
        \"\"\"What to multiply with.\"\"\"
        raise NotImplementedError
class Sub(Base):
    def scale(self, x):
        return x.sum().item()
class Net(nn.Module):
    def forward(self, x: Tensor, how: Base):
        return x * how.scale(x)
net, how = Net(), vars()["Sub"]()
def f(x):
    return net(x, how) + how.scale(x)


# an abstract base, given to the constructor
class Base(ABC):
    @abstractmethod
    def scale(self, x): ...
class Sub(Base):
    def scale(self, x):
        return x.sum().item()
class Net(nn.Module):
    def __init__(self, how: Base):
        super().__init__()
        self.how = how
    def forward(self, x):
        return x * self.how.scale(x) + self.how.scale(x)
def made(cls):
    return Net(cls())
net = made(Sub)
def f(x):
    return net(x)


# a base that does something, and a call that passes another
class Base:
    def scale(self, x):
        return 2
class Sub(Base):
    def scale(self, x):
        return int(x.sum()) + int(x[0])
class Net(nn.Module):
    def forward(self, x: Tensor, how: Base):
        return x * how.scale(x)
net = torch.compile(Net(), backend="eager")
net(torch.ones(3), Sub())
again, how = vars()["net"], vars()["Sub"]()
def f(x):
    return again(x, how)


# members that a class declares
class Parts:
    values: Tensor
    offset: Tensor
    def __init__(self, values, offset):
        self.values, self.offset = values, offset
    def get(self, i: int):
        return self.values[self.offset[i] : self.offset[i + 1]]
parts = vars()["Parts"](torch.ones(4), torch.tensor([0, 2, 4]))
class Net(nn.Module):
    def forward(self, x, parts: Parts):
        return x.sum() + parts.get(0).sum()
net = Net()
def f(x):
    return net(x, parts)


# members that a constructor declares
class Parts:
    def __init__(self, values, offset):
        self.values: Tensor = values
        self.offset: Tensor = offset
    def get(self, i: int):
        return self.values[self.offset[i] : self.offset[i + 1]]
parts = vars()["Parts"](torch.ones(4), torch.tensor([0, 2, 4]))
class Net(nn.Module):
    def forward(self, x, parts: Parts):
        return x.sum() + parts.get(0).sum()
net = Net()
def f(x):
    return net(x, parts)
""")
WHOLE = programs("""
# nobody below reads
class Base:
    def scale(self, x):
        raise NotImplementedError
class Sub(Base):
    def scale(self, x):
        return x.sum()
class Net(nn.Module):
    def forward(self, x: Tensor, how: Base):
        return x * how.scale(x)
net, how = Net(), vars()["Sub"]()
def f(x):
    return net(x, how)


# another hierarchy
class Base:
    def scale(self, x):
        raise NotImplementedError
class Sub(Base):
    def scale(self, x):
        return x.sum()
class Other:
    def scale(self, x):
        return x.sum().item()
class Net(nn.Module):
    def forward(self, x: Tensor, how: Base):
        return x * how.scale(x)
net, how = Net(), vars()["Sub"]()
def f(x):
    return net(x, how)


# members that are numbers
class Parts:
    values: Tensor
    count: int
    def __init__(self, values, count):
        self.values, self.count = values, count
    def get(self):
        return self.values[: self.count] if self.count > 1 else self.values
parts = vars()["Parts"](torch.ones(4), 2)
class Net(nn.Module):
    def forward(self, x, parts: Parts):
        return x.sum() + parts.get().sum()
net = Net()
def f(x):
    return net(x, parts)
""")


@pytest.mark.parametrize("name", BREAKING)
def test_what_breaks_is_told(name: str, tmp_path: Path) -> None:
    assert told(tmp_path, HEAD + BREAKING[name][0])


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_traced_is_silent(name: str, tmp_path: Path) -> None:
    assert not told(tmp_path, HEAD + WHOLE[name][0])


@pytest.mark.slow
@pytest.mark.parametrize("name", BREAKING)
def test_dynamo_breaks_there(name: str) -> None:
    assert breaks_in_calls(HEAD + BREAKING[name][0], 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE)
def test_dynamo_traces_the_rest(name: str) -> None:
    assert not breaks_in_calls(HEAD + WHOLE[name][0], 1)
