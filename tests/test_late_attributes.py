"""An attribute that is made as None and written later, by whatever means, is both.

Each program was compiled with Dynamo, after the lines behind its dashes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.diagnostics import Effect
from tclint.lint.engine import check_files
from tests.dynamo import breaks_in_calls
from tests.test_plain_objects import programs
from tests.test_rewritten_state import told

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


"""
BREAKING = programs("""
# assigned by a method
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = None
    def set_mask(self, mask):
        self.mask = mask
    def forward(self, x):
        if self.mask is not None:
            x = x * x.sum().item()
        return x
net = Net()
def f(x):
    return net(x)
---
net.set_mask(torch.ones(3))


# assigned from outside
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = None
    def forward(self, x):
        if self.mask is not None:
            x = x * x.sum().item()
        return x
net = Net()
net.mask = torch.ones(3)
def f(x):
    return net(x)


# assigned in eager code of a function
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = None
    def forward(self, x):
        if self.mask is None:
            return x
        return x * x.sum().item()
net = Net()
def main():
    net.mask = torch.ones(3)
main()
def f(x):
    return net(x)


# raise if None
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None
    def build(self, n):
        self.table = torch.arange(n)
    def forward(self, x):
        if self.table is None:
            raise RuntimeError("build first")
        return x * x.sum().item()
net = Net()
net.build(3)
def f(x):
    return net(x)


# assert not None
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None
    def build(self, n):
        self.table = torch.arange(n)
    def forward(self, x):
        assert self.table is not None
        return x * x.sum().item()
net = Net()
net.build(3)
def f(x):
    return net(x)


# in a subclass's init
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = None
    def forward(self, x):
        if self.head is None:
            raise NotImplementedError
        return self.head(x) * x.sum().item()
class Net(Base):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3, 3)
net = Net()
def f(x):
    return net(x)


# in a subclass's method
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = None
    def forward(self, x):
        if self.head is None:
            raise NotImplementedError
        return self.head(x) * x.sum().item()
class Net(Base):
    def build(self):
        self.head = nn.Linear(3, 3)
net = Net()
net.build()
def f(x):
    return net(x)


# buffer none then assigned
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", None)
    def set(self, m):
        self.mask = m
    def forward(self, x):
        if self.mask is not None:
            x = x * x.sum().item()
        return x
net = Net()
net.set(torch.ones(3))
def f(x):
    return net(x)


# buffer none then branch on the tensor
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", None)
    def set(self, m: torch.Tensor):
        self.mask = m
    def forward(self, x):
        if self.mask is not None and self.mask.sum() > 1:
            x = x * 2
        return x
net = Net()
net.set(torch.ones(3))
def f(x):
    return net(x)


# buffer none then registered again
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", None)
    def set(self, m):
        self.register_buffer("mask", m)
    def forward(self, x):
        if self.mask is not None:
            x = x * x.sum().item()
        return x
net = Net()
net.set(torch.ones(3))
def f(x):
    return net(x)


# parameter none then assigned outside
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_parameter("scale", None)
    def forward(self, x):
        if self.scale is not None:
            x = x * x.sum().item()
        return x
net = Net()
net.scale = nn.Parameter(torch.ones(3))
def f(x):
    return net(x)


# registered parameter later
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = None
    def grow(self):
        del self.scale
        self.register_parameter("scale", nn.Parameter(torch.ones(3)))
    def forward(self, x):
        if self.scale is not None:
            x = x * x.sum().item()
        return x
net = Net()
net.grow()
def f(x):
    return net(x)


# setattr outside
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = None
    def forward(self, x):
        if self.head is not None:
            x = x * x.sum().item()
        return x
net = Net()
setattr(net, "head", nn.Linear(3, 3))
def f(x):
    return net(x)


# setattr outside by a variable
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = None
    def forward(self, x):
        if self.head is not None:
            x = x * x.sum().item()
        return x
net = Net()
for name in ["head"]:
    setattr(net, name, nn.Linear(3, 3))
def f(x):
    return net(x)


# setattr in a helper by a variable
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = None
    def forward(self, x):
        if self.head is not None:
            x = x * x.sum().item()
        return x
def configure(m, **kw):
    for k, v in kw.items():
        setattr(m, k, v)
net = Net()
configure(net, head=nn.Linear(3, 3))
def f(x):
    return net(x)


# setattr of self by a variable
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = None
    def configure(self, **kw):
        for k, v in kw.items():
            setattr(self, k, v)
    def forward(self, x):
        if self.head is not None:
            x = x * x.sum().item()
        return x
net = Net()
net.configure(head=nn.Linear(3, 3))
def f(x):
    return net(x)


# dict update of self by a variable
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = None
    def configure(self, **kw):
        self.__dict__.update(kw)
    def forward(self, x):
        if self.k is not None:
            x = x * x.sum().item()
        return x
net = Net()
net.configure(k=3)
def f(x):
    return net(x)


# module list member
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = None
    def forward(self, x):
        if self.mask is not None:
            x = x * x.sum().item()
        return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        for b in self.blocks:
            b.mask = torch.ones(3)
    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x
net = Net()
def f(x):
    return net(x)


# lazily built
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = None
    def forward(self, x):
        if self.cache is None:
            self.cache = torch.arange(3.)
        else:
            print(x)
        return x + self.cache
net = Net()
def f(x):
    return net(x)


# lazily built and asked
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = None
    def get(self, x):
        if self.cache is None:
            self.cache = torch.arange(3.)
        return self.cache
    def forward(self, x):
        if self.get(x).sum() > 1:
            x = x + 1
        return x
net = Net()
def f(x):
    return net(x)


# class level None
class Net(nn.Module):
    table = None
    def build(self):
        self.table = torch.ones(3)
    def forward(self, x):
        if self.table is not None:
            x = x * x.sum().item()
        return x
net = Net()
net.build()
def f(x):
    return net(x)


# class level None, set on the class
class Net(nn.Module):
    table = None
    def forward(self, x):
        if self.table is not None:
            x = x * x.sum().item()
        return x
Net.table = 3
net = Net()
def f(x):
    return net(x)


# class level None, class method
class Net(nn.Module):
    table = None
    @classmethod
    def build(cls):
        cls.table = 3
    def forward(self, x):
        if self.table is not None:
            x = x * x.sum().item()
        return x
Net.build()
net = Net()
def f(x):
    return net(x)


# property sets
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self._mask = None
    @property
    def mask(self):
        return self._mask
    @mask.setter
    def mask(self, value):
        self._mask = value
    def forward(self, x):
        if self.mask is not None:
            x = x * x.sum().item()
        return x
net = Net()
net.mask = torch.ones(3)
def f(x):
    return net(x)


# with a context manager
from contextlib import contextmanager
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.ctx = None
    @contextmanager
    def using(self, ctx):
        self.ctx = ctx
        yield
        self.ctx = None
    def forward(self, x):
        if self.ctx is not None:
            x = x * x.sum().item()
        return x
net = Net()
def f(x):
    return net(x)
---
def f(x):
    with net.using(3):
        return net(x)


# init of a mixin
class Mixin:
    def setup(self):
        self.scale = 2
class Net(Mixin, nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = None
        self.setup()
    def forward(self, x):
        if self.scale is None:
            raise RuntimeError
        return x * x.sum().item() * self.scale
net = Net()
def f(x):
    return net(x)


# tuple assigned
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = self.b = None
    def build(self):
        self.a, self.b = torch.ones(3), 3
    def forward(self, x):
        if self.b is not None:
            x = x * x.sum().item()
        return x
net = Net()
net.build()
def f(x):
    return net(x)


# plain object
class State:
    def __init__(self):
        self.k = None
    def set(self, k):
        self.k = k
state = State()
state.set(3)
def f(x):
    if state.k is not None:
        x = x * x.sum().item()
    return x


# dataclass default none
from dataclasses import dataclass
@dataclass
class State:
    k: int = None
state = State(3)
def f(x):
    if state.k is not None:
        x = x * x.sum().item()
    return x


# config argument none default
class Net(nn.Module):
    def __init__(self, k=None):
        super().__init__()
        self.k = k
    def forward(self, x):
        if self.k is not None:
            x = x * x.sum().item()
        return x
net = Net(3)
def f(x):
    return net(x)


# if in init
class Net(nn.Module):
    def __init__(self, deep=False):
        super().__init__()
        self.k = None
        if deep:
            self.k = nn.Linear(3, 3)
    def forward(self, x):
        if self.k is not None:
            x = x * x.sum().item()
        return x
net = Net(True)
def f(x):
    return net(x)


# vars updated
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = None
    def configure(self, given):
        vars(self).update(given)
    def forward(self, x):
        if self.k is not None:
            x = x * x.sum().item()
        return x
net = Net()
net.configure({"k": 3})
def f(x):
    return net(x)


# updated in the constructor
class Net(nn.Module):
    def __init__(self, **kw):
        super().__init__()
        self.k = None
        self.__dict__.update(kw)
    def forward(self, x):
        if self.k is not None:
            x = x * x.sum().item()
        return x
net = Net(k=3)
def f(x):
    return net(x)


# set in the constructor
class Net(nn.Module):
    def __init__(self, **kw):
        super().__init__()
        self.k = None
        for name, value in kw.items():
            setattr(self, name, value)
    def forward(self, x):
        if self.k is not None:
            x = x * x.sum().item()
        return x
net = Net(k=3)
def f(x):
    return net(x)

""")
TRACED = programs("""
# never
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = None
    def forward(self, x):
        if self.k is not None:
            x = x * x.sum().item()
        return x
net = Net()
def f(x):
    return net(x)


# only None again
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = None
    def reset(self):
        self.k = None
    def forward(self, x):
        if self.k is not None:
            x = x * x.sum().item()
        return x
net = Net()
net.reset()
def f(x):
    return net(x)


# other object's
class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = None
    def set(self):
        self.k = 3
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = None
    def forward(self, x):
        if self.k is not None:
            x = x * x.sum().item()
        return x
net = Net()
other = Other()
other.set()
def f(x):
    return net(x)


# setattr of another with a name
class Other:
    pass
def configure(o, **kw):
    for k, v in kw.items():
        setattr(o, k, v)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.flag = False
        self.n = 0
    def forward(self, x):
        if self.flag or self.n > 1:
            x = x * x.sum().item()
        return x
net = Net()
configure(Other(), flag=True)
def f(x):
    return net(x)


# flag beside what the constructor sets
class Net(nn.Module):
    def __init__(self, **kw):
        super().__init__()
        self.on = False
        for name, value in kw.items():
            setattr(self, name, value)
    def forward(self, x):
        if self.on:
            x = x * x.sum().item()
        return x
net = Net(k=3)
def f(x):
    return net(x)

""")


@pytest.mark.parametrize("program", BREAKING.values(), ids=BREAKING.keys())
def test_a_break_behind_a_late_attribute_is_told(tmp_path: Path, program: tuple[str, str]) -> None:
    assert told(tmp_path, HEAD + program[0])


@pytest.mark.parametrize("program", TRACED.values(), ids=TRACED.keys())
def test_attributes_that_stay_none_are_silent(tmp_path: Path, program: tuple[str, str]) -> None:
    assert not told(tmp_path, HEAD + program[0])


@pytest.mark.slow
@pytest.mark.parametrize("program", BREAKING.values(), ids=BREAKING.keys())
def test_dynamo_breaks_there(program: tuple[str, str]) -> None:
    assert breaks_in_calls(HEAD + "".join(program), 3)


@pytest.mark.slow
@pytest.mark.parametrize("program", TRACED.values(), ids=TRACED.keys())
def test_dynamo_does_not_break_elsewhere(program: tuple[str, str]) -> None:
    assert not breaks_in_calls(HEAD + "".join(program), 3)


MODEL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = None

    def forward(self, x: torch.Tensor):
        if self.mask is not None:
            x = x * x.sum().item()
        return x
"""
TRAINING = {
    "top level": ("net = Net()\nnet.mask = 3\nnet = torch.compile(net)\n", True),
    "function": ("def main():\n    net = Net()\n    net.mask = 3\n    torch.compile(net)\n", True),
    "setattr": (
        "def main():\n    net = Net()\n    setattr(net, 'mask', 3)\n    torch.compile(net)\n", True,
    ),
    "a function with its class": (
        "def put(net: Net):\n    net.mask = 3\n\n\nnet = Net()\nput(net)\ntorch.compile(net)\n",
        True,
    ),
    "a method of a subclass": (
        ("class Sub(Net):\n    def build(self):\n        self.mask = 3\n\n\n"
        "net = torch.compile(Sub())\n"),
        True,
    ),
    "the constructor of a subclass": (
        ("class Sub(Net):\n    def __init__(self):\n        super().__init__()\n"
        "        self.mask = 3\n\n\nnet = torch.compile(Sub())\n"),
        True,
    ),
    "an object of another class": (
        ("class Other:\n    pass\n\n\nother = Other()\nother.mask = 3\n"
        "net = torch.compile(Net())\n"),
        False,
    ),
    "nothing": ("net = torch.compile(Net())\n", False),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), TRAINING.values(), ids=TRAINING.keys())
def test_what_another_file_writes_is_known(tmp_path: Path, text: str, expected: bool) -> None:
    model, training = tmp_path / "model.py", tmp_path / "training.py"
    model.write_text(MODEL, encoding="utf-8")
    training.write_text(f"import torch\nfrom model import Net\n\n\n{text}", encoding="utf-8")
    results = check_files([model, training], Config(root=tmp_path)).results
    breaks = [one for one in results if one.diagnostic.effect is Effect.GRAPH_BREAK]
    assert bool(breaks) is expected
