"""Objects that compiled code makes: what they hold, and what their own methods do, is followed.

Each program was compiled with Dynamo, which traces the making of objects and the calls.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from tests.dynamo import breaks_in_calls
from tests.test_rewritten_state import told

HEAD = """\
from collections import namedtuple
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from torch import nn


"""


def programs(text: str) -> dict[str, tuple[str, str]]:
    """What a program defines and how it uses that, by the names of programs."""
    found = {}
    for one in text.split("\n# ")[1:]:
        name, _, rest = one.partition("\n")
        definition, _, use = rest.partition("---\n")
        found[name] = definition, use.strip("\n")
    return found


BREAKING = programs("""
# method
class State:
    def __init__(self, x):
        self.x = x
    def big(self):
        return self.x.sum() > 1
---
if State(x).big():
    x = x + 1

# method var
class State:
    def __init__(self, x):
        self.x = x
    def big(self):
        return self.x.sum() > 1
---
s = State(x)
if s.big():
    x = x + 1

# attr
class State:
    def __init__(self, x):
        self.x = x
    def big(self):
        return self.x.sum() > 1
---
s = State(x)
if s.x.sum() > 1:
    x = x + 1

# attr item
class State:
    def __init__(self, x):
        self.x = x
    def big(self):
        return self.x.sum() > 1
---
s = State(x)
x = x * s.x.sum().item()

# attr float
class State:
    def __init__(self, x):
        self.x = x
    def big(self):
        return self.x.sum() > 1
---
s = State(x.sum())
x = x * float(s.x)

# computed
class State:
    def __init__(self, x):
        self.m = x.mean()
---
s = State(x)
if s.m > 1:
    x = x + 1

# keyword
class State:
    def __init__(self, x):
        self.x = x
    def big(self):
        return self.x.sum() > 1
---
s = State(x=x)
if s.big():
    x = x + 1

# break in init
class State:
    def __init__(self, x):
        self.m = x.mean().item()
---
s = State(x)
x = x * s.m

# print in init
class State:
    def __init__(self, x):
        print('made')
        self.m = x
---
s = State(x)
x = x * s.m

# print in method
class State:
    def __init__(self, x):
        self.m = x
    def go(self):
        print('x')
---
s = State(x)
s.go()

# set later
class State:
    pass
---
s = State()
s.x = x
if s.x.sum() > 1:
    x = x + 1

# set later method
class State:
    def big(self):
        return self.x.sum() > 1
---
s = State()
s.x = x
if s.big():
    x = x + 1

# update method
class State:
    def __init__(self):
        self.total = 0
    def add(self, x):
        self.total = self.total + x.sum()
---
s = State()
s.add(x)
if s.total > 1:
    x = x + 1

# slots
class State:
    __slots__ = ('x',)
    def __init__(self, x):
        self.x = x
    def big(self):
        return self.x.sum() > 1
---
if State(x).big():
    x = x + 1

# property
class State:
    def __init__(self, x):
        self.x = x
    @property
    def mean(self):
        return self.x.mean()
---
if State(x).mean > 1:
    x = x + 1

# inherit
class State:
    def __init__(self, x):
        self.x = x
    def big(self):
        return self.x.sum() > 1
class Sub(State):
    def other(self):
        return self.big()
---
if Sub(x).other():
    x = x + 1

# inherit init
class State:
    def __init__(self, x):
        self.x = x
    def big(self):
        return self.x.sum() > 1
class Sub(State):
    def __init__(self, x, y):
        super().__init__(x)
        self.y = y
---
if Sub(x, 3).big():
    x = x + 1

# classmethod
class State:
    def __init__(self, x):
        self.x = x
    @classmethod
    def make(cls, x):
        return cls(x.sum())
---
s = State.make(x)
if s.x > 1:
    x = x + 1

# staticmethod
class State:
    @staticmethod
    def big(x):
        return x.sum() > 1
---
if State.big(x):
    x = x + 1

# dataclass
@dataclass
class State:
    x: torch.Tensor
    n: int = 0
---
s = State(x)
if s.x.sum() > 1:
    x = x + 1

# dataclass any
@dataclass
class State:
    x: object
    n: int = 0
---
s = State(x)
if s.x.sum() > 1:
    x = x + 1

# dataclass kw
@dataclass(frozen=True)
class State:
    n: int
    x: 'Any'
---
s = State(n=1, x=x)
if s.x.sum() > 1:
    x = x + 1

# dataclass method
@dataclass
class State:
    x: 'Any'
    def big(self):
        return self.x.sum() > 1
---
if State(x).big():
    x = x + 1

# dataclass post
@dataclass
class State:
    x: 'Any'
    def __post_init__(self):
        self.m = self.x.mean()
---
if State(x).m > 1:
    x = x + 1

# dataclass default
@dataclass
class State:
    x: 'Any'
    on: bool = False
---
s = State(x, True)
if s.on:
    print('a')

# dataclass factory
@dataclass
class State:
    xs: list = field(default_factory=list)
---
s = State()
s.xs.append(x.sum())
if s.xs[0] > 1:
    x = x + 1

# namedtuple
P = namedtuple('P', 'a b')
---
p = P(x, 1)
if p.a.sum() > 1:
    x = x + 1

# namedtuple index
P = namedtuple('P', ['a', 'b'])
---
p = P(x, 1)
if p[0].sum() > 1:
    x = x + 1

# namedtuple unpack
P = namedtuple('P', 'a b')
---
a, b = P(x, 1)
if a.sum() > 1:
    x = x + 1

# namedtuple replace
P = namedtuple('P', 'a b')
---
p = P(x, 1)._replace(a=x.sum())
if p.a > 1:
    x = x + 1

# NamedTuple
class P(NamedTuple):
    a: torch.Tensor
    b: int = 0
---
p = P(x)
if p.a.sum() > 1:
    x = x + 1

# NamedTuple any
class P(NamedTuple):
    a: Any
    b: Any = 0
---
p = P(x)
if p.a.sum() > 1:
    x = x + 1

# NamedTuple unpack
class P(NamedTuple):
    a: Any
    b: Any = 0
---
a, b = P(x)
if a.sum() > 1:
    x = x + 1

# NamedTuple index
class P(NamedTuple):
    a: Any
    b: Any = 0
---
a = P(x)[0]
if a.sum() > 1:
    x = x + 1

# NamedTuple method
class P(NamedTuple):
    a: Any
    b: Any = 0
    def big(self):
        return self.a.sum() > 1
---
if P(x).big():
    x = x + 1

# NamedTuple iter
class P(NamedTuple):
    a: Any
    b: Any = 0
---
for a in P(x, x):
    if a.sum() > 1:
        x = x + 1

# class tensor
class State:
    limit = torch.tensor(1.0)
    def big(self):
        return self.limit > 0
---
if State().big():
    x = x + 1

# class tensor 2
class State:
    limit = torch.tensor(1.0)
---
if State.limit > 0:
    x = x + 1

# module class tensor
class Net(nn.Module):
    limit = torch.tensor(1.0)
    def forward(self, x):
        if self.limit > 0:
            x = x + 1
        return x
net = Net()
---
x = net(x)

# nested
class State:
    def __init__(self, x):
        self.x = x
    def big(self):
        return self.x.sum() > 1
class Outer:
    def __init__(self, x):
        self.inner = State(x)
---
o = Outer(x)
if o.inner.big():
    x = x + 1

# global obj
class State:
    def __init__(self, x):
        self.x = x
    def big(self):
        return self.x.sum() > 1
s = State(torch.ones(3))
---
if s.big():
    x = x + 1

# global obj attr
class State:
    def __init__(self, x):
        self.x = x
    def big(self):
        return self.x.sum() > 1
s = State(torch.ones(3))
---
if s.x.sum() > 1:
    x = x + 1

# param obj
class State:
    def __init__(self, x):
        self.x = x
    def big(self):
        return self.x.sum() > 1
def g(s):
    return s.big()
---
if g(State(x)):
    x = x + 1

# return obj
class State:
    def __init__(self, x):
        self.x = x
    def big(self):
        return self.x.sum() > 1
def g(x):
    return State(x)
---
if g(x).big():
    x = x + 1

# list of obj
class State:
    def __init__(self, x):
        self.x = x
    def big(self):
        return self.x.sum() > 1
---
for s in [State(x), State(x + 1)]:
    if s.big():
        x = x + 1

# SimpleNamespace

---
s = SimpleNamespace(x=x)
if s.x.sum() > 1:
    x = x + 1

""")
TRACED = programs("""
# int
class State:
    def __init__(self, x):
        self.x = x
    def big(self):
        return self.x.sum() > 1
---
s = State(3)
if s.x > 1:
    x = x + 1

# two kinds
class State:
    def __init__(self, x):
        self.x = x
    def big(self):
        return self.x.sum() > 1
---
s = State(3)
t = State(x)
if s.x > 1:
    x = x + t.x

# flag
class State:
    def __init__(self, debug=False):
        self.debug = debug
---
s = State()
if s.debug:
    print('x')

# flag off
class State:
    def __init__(self, debug):
        self.debug = debug
---
s = State(False)
if s.debug:
    print('x')

# nt
P = namedtuple('P', 'a b')
---
p = P(x, 1)
if p.b > 0:
    x = x + p.a

# dataclass
@dataclass
class State:
    x: 'Any'
    on: bool = False
---
s = State(x)
if s.on:
    print('a')

""")


def program(definition: str, use: str) -> str:
    """A program whose function uses what it defines."""
    body = indent(f"x = x + 1\n{use}\nreturn x * 2\n", "    ")
    return f"{HEAD}{definition}\n\n\ndef f(x: torch.Tensor):\n{body}"


@pytest.mark.parametrize(("definition", "use"), BREAKING.values(), ids=BREAKING.keys())
def test_a_break_behind_an_object_is_told(tmp_path: Path, definition: str, use: str) -> None:
    assert told(tmp_path, program(definition, use))


@pytest.mark.parametrize(("definition", "use"), TRACED.values(), ids=TRACED.keys())
def test_objects_without_a_break_are_silent(tmp_path: Path, definition: str, use: str) -> None:
    assert not told(tmp_path, program(definition, use))


@pytest.mark.slow
@pytest.mark.parametrize(("definition", "use"), BREAKING.values(), ids=BREAKING.keys())
def test_dynamo_breaks_behind_an_object(definition: str, use: str) -> None:
    assert breaks_in_calls(program(definition, use), 2)


@pytest.mark.slow
@pytest.mark.parametrize(("definition", "use"), TRACED.values(), ids=TRACED.keys())
def test_dynamo_traces_objects_without_a_break(definition: str, use: str) -> None:
    assert not breaks_in_calls(program(definition, use), 2)
