"""Classes in functions and classes, and what is imported there, are judged like all others.

Each program was compiled with Dynamo, after the lines behind its dashes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dynamo import breaks_in_calls
from tests.test_plain_objects import programs
from tests.test_rewritten_state import told

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


"""
BREAKING = programs("""
# class in a factory, called
def make():
    class Net(nn.Module):
        def forward(self, x):
            if x.sum() > 1:
                x = x + 1
            return x
    return Net()
net = make()
def f(x):
    return net(x)


# class in a factory, returned as a class
def make(width):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = width
        def forward(self, x):
            return x * x.sum().item()
    return Net
net = make(3)()
f = torch.compile(net)


# class in a class
class Outer(nn.Module):
    class Inner(nn.Module):
        def forward(self, x):
            print(x.sum())
            return x
    def __init__(self):
        super().__init__()
        self.inner = Outer.Inner()
    def forward(self, x):
        return self.inner(x)
net = Outer()
def f(x):
    return net(x)


# class in a class by self
class Outer(nn.Module):
    class Inner(nn.Module):
        def forward(self, x):
            print(x.sum())
            return x
    def __init__(self):
        super().__init__()
        self.inner = self.Inner()
    def forward(self, x):
        return self.inner(x)
net = Outer()
def f(x):
    return net(x)


# class in a class, methods with self attrs
class Outer:
    class Inner(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(3))
        def forward(self, x):
            if self.scale.sum() > 1:
                x = x + 1
            return x
net = Outer.Inner()
def f(x):
    return net(x)


# class in a method
class Builder:
    def build(self):
        class Net(nn.Module):
            def forward(self, x):
                return x[x > 0].sum().item()
        return Net()
net = Builder().build()
def f(x):
    return net(x)


# class in a static method
class Builder:
    @staticmethod
    def build():
        class Net(nn.Module):
            def forward(self, x):
                return self.inner(x)
            def inner(self, x):
                return x * float(x.sum())
        return Net()
net = Builder.build()
def f(x):
    return net(x)


# class in a function in a function
def outer():
    def inner():
        class Net(nn.Module):
            def forward(self, x):
                return x * x.max().item()
        return Net()
    return inner()
net = outer()
def f(x):
    return net(x)


# class in an if in a function
def make(flag=True):
    if flag:
        class Net(nn.Module):
            def forward(self, x):
                return x * x.max().item()
    else:
        class Net(nn.Module):
            def forward(self, x):
                return x
    return Net()
net = make()
def f(x):
    return net(x)


# subclass of a parameter
def mix(base):
    class Mixed(base):
        def forward(self, x):
            print(float(x.sum()))
            return super().forward(x)
    return Mixed
Net = mix(nn.ReLU)
net = Net()
def f(x):
    return net(x)


# subclass of a local class
def make():
    class Base(nn.Module):
        def forward(self, x):
            return self.scale(x) * x
        def scale(self, x):
            return 1
    class Net(Base):
        def scale(self, x):
            return x.sum().item()
    return Net()
net = make()
def f(x):
    return net(x)


# subclass of a module-level class
class Base(nn.Module):
    def forward(self, x):
        return self.scale(x) * x
    def scale(self, x):
        return 1
def make():
    class Net(Base):
        def scale(self, x):
            return x.sum().item()
    return Net()
net = make()
def f(x):
    return net(x)


# local class uses closure tensor flag
def make(verbose):
    class Net(nn.Module):
        def forward(self, x):
            if verbose:
                print(x)
            return x
    return Net()
net = make(True)
def f(x):
    return net(x)


# autograd function in a function
def make():
    class Fn(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            print(x.sum().item())
            return x * 2
        @staticmethod
        def backward(ctx, g):
            return g * 2
    return Fn
Fn = make()
def f(x):
    return Fn.apply(x)


# inner class constant on
class Outer(nn.Module):
    class Config:
        def big(self, x):
            return x.sum() > 1
    def forward(self, x):
        if self.Config().big(x):
            x = x + 1
        return x * 2
net = Outer()
def f(x):
    return net(x)


# local import of torch in an outer function
def make():
    import torch as t
    def inner(x):
        if t.sum(x) > 1:
            x = x + 1
        return x
    return inner
f = make()
compiled = torch.compile(f)


# local from-import in an outer function
def make():
    from torch import sum as total
    def inner(x):
        if total(x) > 1:
            x = x + 1
        return x
    return inner
f = make()
compiled = torch.compile(f)


# local import used in a nested function of f
def f(x):
    import torch as t
    def inner(y):
        return t.nonzero(y).shape[0] > 1 and bool(t.any(y > 0))
    if inner(x):
        x = x + 1
    return x


# local import used in a lambda
def f(x):
    from time import time as now
    g = lambda y: y * now()
    return g(x)


# local import in a method used in a nested function
class Net(nn.Module):
    def forward(self, x):
        import numpy as np
        def inner(y):
            return int(np.random.randint(3))
        return x * inner(x)
net = Net()
def f(x):
    return net(x)


# local import of a local class's body
def make():
    import torch.nn as tnn
    class Net(tnn.Module):
        def forward(self, x):
            return x * x.sum().item()
    return Net()
net = make()
def f(x):
    return net(x)


# local import in a function, base by from-import
def make():
    from torch.nn import Module
    class Net(Module):
        def forward(self, x):
            return x * x.sum().item()
    return Net()
net = make()
def f(x):
    return net(x)


# local alias of a base
def make():
    M = nn.Module
    class Net(M):
        def forward(self, x):
            return x * x.sum().item()
    return Net()
net = make()
def f(x):
    return net(x)


# class in with at top level
with torch.no_grad():
    class Net(nn.Module):
        def forward(self, x):
            return x * x.sum().item()
net = Net()
def f(x):
    return net(x)


# class in a for at top level
nets = []
for k in range(2):
    class Net(nn.Module):
        def forward(self, x):
            return x * x.sum().item()
    nets.append(Net())
def f(x):
    return nets[0](x)


# nobody calls the factory
def make(width):
    class Net(nn.Module):
        def forward(self, x):
            return x * x.sum().item()
    return Net
---
f = make(3)()


# nobody calls the inner factory
def make(width):
    def build():
        class Net(nn.Module):
            def forward(self, x):
                return x * x.sum().item()
        return Net()
    return build
---
f = make(3)()


# in a method nobody calls
class Builder:
    def build(self):
        class Net(nn.Module):
            def forward(self, x):
                return x * x.sum().item()
        return Net()
---
f = Builder().build()


# in a class
class Outer:
    class Net(nn.Module):
        def forward(self, x):
            return x * x.sum().item()
---
f = Outer.Net()


# in a class in a class
class Outer:
    class Middle:
        class Net(nn.Module):
            def forward(self, x):
                return x * x.sum().item()
---
f = Outer.Middle.Net()


# in a class in a function
def make():
    class Outer:
        class Net(nn.Module):
            def forward(self, x):
                return x * x.sum().item()
    return Outer
---
f = make().Net()


# in a function in a method of a class in a function
def make():
    class Outer:
        def build(self):
            def inner():
                class Net(nn.Module):
                    def forward(self, x):
                        return x * x.sum().item()
                return Net()
            return inner()
    return Outer
---
f = make()().build()


# neighbour in a class
class Outer:
    class Base(nn.Module):
        def forward(self, x):
            return self.go(x)
        def go(self, x):
            return x
    class Net(Base):
        def go(self, x):
            return x * x.sum().item()
---
f = Outer.Net()


# base of a nested class elsewhere
class Outer:
    class Base(nn.Module):
        def forward(self, x):
            return self.go(x)
        def go(self, x):
            return x
class Net(Outer.Base):
    def go(self, x):
        return x * x.sum().item()
---
f = Net()


# inherited nested class
class Outer:
    class Part(nn.Module):
        def forward(self, x):
            return x * x.sum().item()
class Sub(Outer, nn.Module):
    def __init__(self):
        super().__init__()
        self.part = self.Part()
    def forward(self, x):
        return self.part(x)
---
f = Sub()


# neighbour in a function
def make():
    class Base(nn.Module):
        def forward(self, x):
            return self.go(x)
        def go(self, x):
            return x
    class Net(Base):
        def go(self, x):
            return x * x.sum().item()
    return Net
---
f = make()()


# super in a local class
def make():
    class Base(nn.Module):
        def forward(self, x):
            return x * x.sum().item()
    class Net(Base):
        def forward(self, x):
            return super().forward(x)
    return Net
---
f = make()()


# parameter of the function on
def make(verbose=True):
    class Net(nn.Module):
        def forward(self, x):
            if verbose:
                print(x)
            return x * 2
    return Net
---
f = make()()


# helper function beside
def make():
    def helper(x):
        return x.sum().item()
    class Net(nn.Module):
        def forward(self, x):
            return x * helper(x)
    return Net
---
f = make()()


# after a return in a branch
def make(kind):
    if kind == "a":
        return None
    class Net(nn.Module):
        def forward(self, x):
            return x * x.sum().item()
    return Net()
---
f = make("b")


# in a try
def make():
    try:
        class Net(nn.Module):
            def forward(self, x):
                return x * x.sum().item()
    except Exception:
        pass
    return Net()
---
f = make()


# in with
def make():
    with torch.no_grad():
        class Net(nn.Module):
            def forward(self, x):
                return x * x.sum().item()
    return Net()
---
f = make()


# decorated class
def register(cls):
    return cls
def make():
    @register
    class Net(nn.Module):
        def forward(self, x):
            return x * x.sum().item()
    return Net()
---
f = make()


# generic base
from typing import Generic, TypeVar
T = TypeVar("T")
def make():
    class Net(nn.Module, Generic[T]):
        def forward(self, x):
            return x * x.sum().item()
    return Net()
---
f = make()


# class level alias
class Net(nn.Module):
    def go(self, x):
        return x * x.sum().item()
    forward = go
---
f = Net()


# class level lambda
class Net(nn.Module):
    scale = staticmethod(lambda x: x.sum().item())
    def forward(self, x):
        return x * self.scale(x)
---
f = Net()


# local import above
def make():
    import numpy as xp
    class Net(nn.Module):
        def forward(self, x):
            return x * float(xp.random.rand())
    return Net
---
f = make()()

""")
TRACED = programs("""
# plain class in a function silent
def make():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = nn.Linear(3, 3)
        def forward(self, x):
            return self.lin(x).relu()
    return Net()
net = make()
def f(x):
    return net(x)


# local class with a known flag
def make():
    debug = False
    class Net(nn.Module):
        def forward(self, x):
            if debug:
                print(x)
            return x * 2
    return Net()
net = make()
def f(x):
    return net(x)


# class in a class, silent
class Outer(nn.Module):
    class Config:
        debug = False
    def forward(self, x):
        if self.Config.debug:
            print(x)
        return x * 2
net = Outer()
def f(x):
    return net(x)


# silent: a dataclass, an exception
def make():
    class Bad(Exception):
        def __init__(self, x):
            super().__init__(x)
            print(x)
    class Net(nn.Module):
        def forward(self, x):
            return x * 2
    return Net
---
f = make()()


# silent: not a module
def make():
    class Helper:
        def forward(self, x):
            return x.item()
    return Helper
---
def f(x): return x


# silent: a flag known in the function
def make():
    verbose = False
    class Net(nn.Module):
        def forward(self, x):
            if verbose:
                print(x)
            return x * 2
    return Net
---
f = make()()


# silent: a local name hides a base
def make():
    class Base(nn.Module):
        def forward(self, x):
            return self.go(x)
        def go(self, x):
            return x
    class Net(Base):
        pass
    return Net
class Base(nn.Module):
    def forward(self, x):
        return self.stay(x)
    def stay(self, x):
        return x
---
f = make()()

""")


@pytest.mark.parametrize("program", BREAKING.values(), ids=BREAKING.keys())
def test_a_break_in_an_inner_class_is_told(tmp_path: Path, program: tuple[str, str]) -> None:
    assert told(tmp_path, HEAD + program[0])


@pytest.mark.parametrize("program", TRACED.values(), ids=TRACED.keys())
def test_inner_classes_without_a_break_are_silent(tmp_path: Path, program: tuple[str, str]) -> None:
    assert not told(tmp_path, HEAD + program[0])


@pytest.mark.slow
@pytest.mark.parametrize("program", BREAKING.values(), ids=BREAKING.keys())
def test_dynamo_breaks_there(program: tuple[str, str]) -> None:
    assert breaks_in_calls(HEAD + "".join(program), 3)


@pytest.mark.slow
@pytest.mark.parametrize("program", TRACED.values(), ids=TRACED.keys())
def test_dynamo_does_not_break_elsewhere(program: tuple[str, str]) -> None:
    assert not breaks_in_calls(HEAD + "".join(program), 3)
