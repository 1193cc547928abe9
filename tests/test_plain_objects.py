"""Objects that compiled code makes: what they hold, and what their own methods do, is followed.

Each program was compiled with Dynamo, which traces the making of objects and the calls.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from tests.dynamo import breaks_in_calls, skip_before
from tests.test_rewritten_state import told

HEAD = """\
from collections import namedtuple
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
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
# one for all, made by new
class Held:
    kept = None
    def __new__(cls):
        if Held.kept is None:
            Held.kept = object.__new__(cls)
            Held.kept.set_up()
        return Held.kept
    def set_up(self):
        self.state = State()
class State:
    def big(self, x):
        return x.sum() > 1
---
if Held().state.big(x):
    x = x + 1

# new and init
class Held:
    def __new__(cls, *args):
        made = super(Held, cls).__new__(cls)
        made.seen = torch.ones(3)
        return made
    def __init__(self, size):
        self.size = size
held = Held(3)
---
if held.seen.sum() > held.size:
    x = x + 1

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

# add
class Num:
    def __init__(self, x):
        self.x = x
    def __add__(self, o):
        return self.x.sum() + o
---
if Num(x) + 1 > 0:
    x = x + 1

# add break
class Num:
    def __init__(self, x):
        self.x = x
    def __add__(self, o):
        print('add')
        return self
---
n = Num(x) + 1

# radd
class Num:
    def __init__(self, x):
        self.x = x
    def __radd__(self, o):
        return self.x.sum() + o
---
if 1 + Num(x) > 0:
    x = x + 1

# iadd
class Num:
    def __init__(self, x):
        self.x = x
    def __iadd__(self, o):
        self.x = self.x + float(self.x.sum())
        return self
---
n = Num(x)
n += 1
x = n.x

# neg
class Num:
    def __init__(self, x):
        self.x = x
    def __neg__(self):
        return -self.x.sum()
---
if -Num(x) > 0:
    x = x + 1

# getitem
class Num:
    def __init__(self, x):
        self.x = x
    def __getitem__(self, i):
        return self.x[i]
---
if Num(x)[0] > 0:
    x = x + 1

# getitem break
class Num:
    def __init__(self, x):
        self.x = x
    def __getitem__(self, i):
        return self.x[i].item()
---
x = x * Num(x)[0]

# setitem
class Num:
    def __init__(self, x):
        self.x = x
    def __setitem__(self, i, v):
        self.x[i] = v.item()
---
Num(x)[0] = x.sum()

# len
class Num:
    def __init__(self, x):
        self.x = x
    def __len__(self):
        return int(self.x.sum())
---
x = x * len(Num(x))

# bool
class Num:
    def __init__(self, x):
        self.x = x
    def __bool__(self):
        return bool(self.x.sum() > 1)
---
if Num(x):
    x = x + 1

# bool not
class Num:
    def __init__(self, x):
        self.x = x
    def __bool__(self):
        return bool(self.x.sum() > 1)
---
if not Num(x):
    x = x + 1

# len truth
class Num:
    def __init__(self, x):
        self.x = x
    def __len__(self):
        return int(self.x.sum())
---
if Num(x):
    x = x + 1

# with
class Ctx:
    def __init__(self, x):
        self.x = x
    def __enter__(self):
        return self.x.sum()
    def __exit__(self, *a):
        return False
---
with Ctx(x) as t:
    if t > 1:
        x = x + 1

# enter break
class Ctx:
    def __enter__(self):
        print('in')
        return self
    def __exit__(self, *a):
        return False
---
with Ctx() as t:
    x = x + 1

# exit break
class Ctx:
    def __enter__(self):
        return self
    def __exit__(self, *a):
        print('out')
        return False
---
with Ctx() as t:
    x = x + 1

# iter
class Num:
    def __init__(self, x):
        self.x = x
    def __iter__(self):
        return iter([self.x.sum(), self.x.mean()])
---
for t in Num(x):
    if t > 0:
        x = x + 1

# iter gen
class Num:
    def __init__(self, x):
        self.x = x
    def __iter__(self):
        yield self.x.sum()
---
for t in Num(x):
    if t > 0:
        x = x + 1

# next
class It:
    def __init__(self, x):
        self.x = x
        self.n = 0
    def __iter__(self):
        return self
    def __next__(self):
        self.n += 1
        if self.n > 2:
            raise StopIteration
        return self.x.sum()
---
for t in It(x):
    if t > 0:
        x = x + 1

# iter getitem
class Seq:
    def __init__(self, x):
        self.xs = [x.sum(), x.mean()]
    def __len__(self):
        return 2
    def __getitem__(self, i):
        return self.xs[i]
---
for t in Seq(x):
    if t > 0:
        x = x + 1

# call
class Num:
    def __init__(self, x):
        self.x = x
    def __call__(self, y):
        return (self.x + y).sum()
---
if Num(x)(x) > 0:
    x = x + 1

# eq
class Num:
    def __init__(self, x):
        self.x = x
    def __eq__(self, o):
        return bool((self.x == o.x).all())
---
if Num(x) == Num(x):
    x = x + 1

# lt
class Num:
    def __init__(self, x):
        self.x = x
    def __lt__(self, o):
        return self.x.sum() < o.x.sum()
---
if Num(x) < Num(x):
    x = x + 1

# gt reflected
class Num:
    def __init__(self, x):
        self.x = x
    def __gt__(self, o):
        return self.x.sum() > o
---
if 0 < Num(x):
    x = x + 1

# contains
class Num:
    def __init__(self, x):
        self.x = x
    def __contains__(self, v):
        return bool((self.x == v).any())
---
if 1.0 in Num(x):
    x = x + 1

# contains not
class Num:
    def __init__(self, x):
        self.x = x
    def __contains__(self, v):
        return bool((self.x == v).any())
---
if 1.0 not in Num(x):
    x = x + 1

# float
class Num:
    def __init__(self, x):
        self.x = x
    def __float__(self):
        return self.x.sum().item()
---
x = x * float(Num(x))

# int
class Num:
    def __init__(self, x):
        self.x = x
    def __int__(self):
        return int(self.x.sum())
---
x = x * int(Num(x))

# index
class Num:
    def __init__(self, x):
        self.x = x
    def __index__(self):
        return int(self.x.sum())
---
x = x * [1,2,3,4,5,6,7,8,9,10][Num(x)]

# str
class Num:
    def __init__(self, x):
        self.x = x
    def __str__(self):
        return str(self.x.sum().item())
---
x = x * len(str(Num(x)))

# fstring
class Num:
    def __init__(self, x):
        self.x = x
    def __str__(self):
        return str(self.x.sum().item())
---
x = x * len(f'{Num(x)}')

# repr
class Num:
    def __init__(self, x):
        self.x = x
    def __repr__(self):
        return str(self.x.sum().item())
---
x = x * len(repr(Num(x)))

# getattr
class Num:
    def __init__(self, x):
        self.x = x
    def __getattr__(self, name):
        return self.x.sum()
---
if Num(x).total > 0:
    x = x + 1

# matmul
class Num:
    def __init__(self, x):
        self.x = x
    def __matmul__(self, o):
        return (self.x @ o)
---
if Num(x) @ x > 0:
    x = x + 1

# abs
class Num:
    def __init__(self, x):
        self.x = x
    def __abs__(self):
        return self.x.abs().sum()
---
if abs(Num(x)) > 0:
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

# contextmanager
@contextmanager
def ctx(x):
    yield x.sum()
---
with ctx(x) as t:
    if t > 1:
        x = x + 1

# class in loop
class Node:
    def __init__(self, x, below=None):
        self.x = x
        self.below = below
---
n = None
for i in range(5):
    n = Node(x.sum() + i, n)
if n.below.below.x > 1:
    x = x + 1

# setter
class Node:
    def __init__(self, x):
        self._x = 0
        self.x = x
    @property
    def x(self):
        return self._x
    @x.setter
    def x(self, v):
        self._x = v.sum()
---
n = Node(x)
if n.x > 1:
    x = x + 1

# setter break
class Node:
    def __init__(self):
        self._x = 0
    @property
    def x(self):
        return self._x
    @x.setter
    def x(self, v):
        print('set')
        self._x = v
---
n = Node()
n.x = x

# cached_property
class Node:
    def __init__(self, x):
        self.x = x
    @cached_property
    def total(self):
        return self.x.sum()
---
if Node(x).total > 1:
    x = x + 1

# super method
class A:
    def __init__(self, x):
        self.x = x
    def big(self):
        return self.x.sum() > 1
class B(A):
    def big(self):
        return super().big()
---
if B(x).big():
    x = x + 1

# base init
class A:
    def __init__(self, x):
        self.x = x
class B(A):
    def __init__(self, x):
        A.__init__(self, x)
---
if B(x).x.sum() > 1:
    x = x + 1

# helper init
class A:
    def __init__(self, x):
        self.fill(x)
    def fill(self, x):
        self.x = x.sum()
---
if A(x).x > 1:
    x = x + 1

# set in helper
class A:
    def __init__(self):
        self.x = None
def fill(a, x):
    a.x = x.sum()
---
a = A()
fill(a, x)
if a.x > 1:
    x = x + 1

# dict of obj
class A:
    def __init__(self, x):
        self.x = x
---
d = {"a": A(x.sum())}
if d["a"].x > 1:
    x = x + 1

# module holds obj
class A:
    def __init__(self, x):
        self.x = x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = A(torch.ones(3))
    def forward(self, x):
        if self.a.x.sum() > 1:
            x = x + 1
        return x
net = Net()
---
x = net(x)

# setattr init
class A:
    def __init__(self, **kw):
        for k, v in kw.items():
            setattr(self, k, v)
---
if A(x=x.sum()).x > 1:
    x = x + 1

""")
TRACED = programs("""
# what new sets is a number
class Held:
    kept = None
    def __new__(cls):
        if cls.kept is None:
            cls.kept = super().__new__(cls)
            cls.kept.size = 3
        return cls.kept
Held()
---
if Held().size > 2:
    x = x + 1

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

# len
class Num:
    def __init__(self, x):
        self.x = x
    def __len__(self):
        return 3
---
if len(Num(x)) > 2:
    x = x + 1

# bool
class Num:
    def __init__(self, x):
        self.x = x
    def __bool__(self):
        return False
---
if Num(x):
    print('x')

# add
class Num:
    def __init__(self, x):
        self.x = x
    def __add__(self, o):
        return Num(self.x + o)
---
x = (Num(x) + 1).x

# eq
class Num:
    def __init__(self, x):
        self.x = x
    def __eq__(self, o):
        return True
---
if Num(x) == Num(x):
    x = x + 1

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

# with
class Ctx:
    def __enter__(self):
        return 3
    def __exit__(self, *a):
        return False
---
with Ctx() as t:
    if t > 1:
        x = x + 1

# type
class Num:
    def __init__(self, x):
        self.x = x
    def __len__(self):
        return 3
    def __getitem__(self, item):
        if type(item) is int:
            if item >= len(self):
                raise IndexError
            item = slice(item, None)
        return self.x[item]
---
x = x + Num(x)[torch.zeros(3, dtype=torch.long)]

# none
class A:
    def __init__(self, x, y=None):
        self.x = x
        self.y = y
---
a = A(x)
if a.y is not None:
    print('y')

# own flag
class A:
    def __init__(self, on):
        self.on = on
        self.n = 0
    def go(self):
        self.n += 1
---
a = A(True)
a.go()
if not a.on:
    print('off')
x = x * a.n

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
    skip_before((2, 13))
    assert breaks_in_calls(program(definition, use), 2)


@pytest.mark.slow
@pytest.mark.parametrize(("definition", "use"), TRACED.values(), ids=TRACED.keys())
def test_dynamo_traces_objects_without_a_break(definition: str, use: str) -> None:
    assert not breaks_in_calls(program(definition, use), 2)
