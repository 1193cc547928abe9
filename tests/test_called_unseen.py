"""What is called without a call that shows it: setters, hooks, closures, methods by other names.

Each program was compiled with Dynamo.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config, with_overrides
from tclint.lint.engine import check_files
from tests.dynamo import RELEASE, breaks_in_calls
from tests.test_plain_objects import programs
from tests.test_rewritten_state import told

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


"""
BREAKING = programs("""
# setter on self
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self._v = 0
    @property
    def v(self):
        return self._v
    @v.setter
    def v(self, value):
        self._v = value.item()
    def forward(self, x):
        self.v = x.sum()
        return x * 2
net = Net()
def f(x):
    return net(x)


# setter on a plain object
class State:
    def __init__(self):
        self._v = 0
    @property
    def v(self):
        return self._v
    @v.setter
    def v(self, value):
        self._v = float(value)
state = State()
def f(x):
    state.v = x.sum()
    return x * 2


# setter on an object made inside
class State:
    @property
    def v(self):
        return self._v
    @v.setter
    def v(self, value):
        print(value)
        self._v = value
def f(x):
    s = State()
    s.v = x.sum()
    return x * 2 + s.v


# setter augmented
class State:
    def __init__(self):
        self._v = 0
    @property
    def v(self):
        return self._v
    @v.setter
    def v(self, value):
        print(value)
        self._v = value
def f(x):
    s = State()
    s.v += x.sum()
    return x * 2


# setter by setattr
class State:
    def __init__(self):
        self._v = 0
    @property
    def v(self):
        return self._v
    @v.setter
    def v(self, value):
        print(value)
        self._v = value
def f(x):
    s = State()
    setattr(s, "v", x.sum())
    return x * 2


# setter in a base
class Base:
    def __init__(self):
        self._v = 0
    @property
    def v(self):
        return self._v
    @v.setter
    def v(self, value):
        self._v = value.item()
class State(Base):
    pass
def f(x):
    s = State()
    s.v = x.sum()
    return x * 2


# setter in a tuple target
class State:
    def __init__(self):
        self._v = 0
    @property
    def v(self):
        return self._v
    @v.setter
    def v(self, value):
        self._v = value.item()
def f(x):
    s = State()
    s.v, y = x.sum(), x + 1
    return y * 2


# property function with fset
class State:
    def __init__(self):
        self._v = 0
    def get(self):
        return self._v
    def put(self, value):
        self._v = value.item()
    v = property(get, put)
def f(x):
    s = State()
    s.v = x.sum()
    return x * 2


# property function getter
class State:
    def __init__(self, x):
        self.x = x
    def get(self):
        return self.x.sum().item()
    v = property(get)
def f(x):
    s = State(x)
    return x * s.v


# __setattr__
class State:
    def __setattr__(self, name, value):
        print(name)
        object.__setattr__(self, name, value)
def f(x):
    s = State()
    s.v = x.sum()
    return x * 2


# deleter
class State:
    def __init__(self, x):
        self._v = x
    @property
    def v(self):
        return self._v
    @v.deleter
    def v(self):
        print(self._v)
        self._v = None
def f(x):
    s = State(x)
    del s.v
    return x * 2


# setter makes the value known
class State:
    def __init__(self):
        self._v = 0
    @property
    def v(self):
        return self._v
    @v.setter
    def v(self, value):
        self._v = value * 2
def f(x):
    s = State()
    s.v = x.sum()
    if s.v > 1:
        x = x + 1
    return x


# closure returned and called
def make(scale):
    def inner(x):
        return x * x.sum().item() * scale
    return inner
def f(x):
    return make(2)(x)


# closure returned, kept on the module
def make(scale):
    def inner(x):
        return x * x.sum().item() * scale
    return inner
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fn = make(2)
    def forward(self, x):
        return self.fn(x)
net = Net()
def f(x):
    return net(x)


# closure kept at top level
def make(scale):
    def inner(x):
        return x * x.sum().item() * scale
    return inner
fn = make(2)
def f(x):
    return fn(x)


# closure in a dict
def make(scale):
    def inner(x):
        return x * x.sum().item() * scale
    return inner
table = {"a": make(1), "b": make(2)}
def f(x):
    return table["b"](x)


# closure from a method
class Maker:
    def make(self, scale):
        def inner(x):
            return x * x.sum().item() * scale
        return inner
maker = Maker()
fn = maker.make(2)
def f(x):
    return fn(x)


# partial returned
from functools import partial
def scaled(scale, x):
    return x * x.sum().item() * scale
def make(scale):
    return partial(scaled, scale)
fn = make(2)
def f(x):
    return fn(x)


# lambda returned
def make(scale):
    return lambda x: x * x.sum().item() * scale
fn = make(2)
def f(x):
    return fn(x)


# closure through two makers
def outer(a):
    def middle(b):
        def inner(x):
            return x * x.sum().item() * a * b
        return inner
    return middle
fn = outer(1)(2)
def f(x):
    return fn(x)


# forward hook outside
class Net(nn.Module):
    def forward(self, x):
        return x * 2
def hook(module, args, out):
    print(out.sum().item())
net = Net()
net.register_forward_hook(hook)
def f(x):
    return net(x)


# forward hook on a layer in init
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.lin.register_forward_hook(self.hook)
    def hook(self, module, args, out):
        return out * out.sum().item()
    def forward(self, x):
        return self.lin(x)
net = Net()
def f(x):
    return net(x)


# forward hook closure
def make(name):
    def hook(module, args, out):
        print(name, out.sum().item())
    return hook
lin = nn.Linear(3, 3)
lin.register_forward_hook(make("a"))
def f(x):
    return lin(x)


# pre hook
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_forward_pre_hook(self.before)
    def before(self, module, args):
        print(args[0].sum().item())
    def forward(self, x):
        return x * 2
net = Net()
def f(x):
    return net(x)


# pre hook with kwargs
class Net(nn.Module):
    def forward(self, x):
        return x * 2
def before(module, args, kwargs):
    print(args[0].sum().item())
net = Net()
net.register_forward_pre_hook(before, with_kwargs=True)
def f(x):
    return net(x)


# hook lambda
lin = nn.Linear(3, 3)
lin.register_forward_hook(lambda m, a, out: print(out.sum()))
def f(x):
    return lin(x)


# hook branch on a tensor
lin = nn.Linear(3, 3)
def hook(module, args, out):
    if out.abs().sum() > 0:
        out = out + 1
    return out
lin.register_forward_hook(hook)
def f(x):
    return lin(x)


# callback list
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.callbacks = []
    def on(self, fn):
        self.callbacks.append(fn)
    def forward(self, x):
        for c in self.callbacks:
            x = c(x)
        return x * 2
def show(x):
    return x * x.sum().item()
net = Net()
net.on(show)
def f(x):
    return net(x)


# print in a backward
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        print(grad.sum().item())
        return grad * 2
p = torch.ones(3, requires_grad=True)
def f(x):
    return Fn.apply(x * p)


# own decorator over staticmethod
def logged(fn):
    def wrapper(*a, **k):
        print("called")
        return fn(*a, **k)
    return wrapper
class Tools:
    @logged
    @staticmethod
    def g(x):
        return x * 2
def f(x):
    return Tools.g(x + 1)


# own decorator under staticmethod
def logged(fn):
    def wrapper(*a, **k):
        print("called")
        return fn(*a, **k)
    return wrapper
class Tools:
    @staticmethod
    @logged
    def g(x):
        return x * 2
def f(x):
    return Tools.g(x + 1)


# own decorator under property
def logged(fn):
    def wrapper(*a, **k):
        print("called")
        return fn(*a, **k)
    return wrapper
class Tools:
    @property
    @logged
    def g(self):
        return 2
t = Tools()
def f(x):
    return x * t.g


# break inside, under an own decorator over staticmethod
import functools
def passed(fn):
    @functools.wraps(fn)
    def wrapper(*a, **k):
        return fn(*a, **k)
    return wrapper
class Net(nn.Module):
    @passed
    @staticmethod
    def g(x):
        return x * x.sum().item()
    def forward(self, x):
        return self.__class__.g(x + 1)
net = Net()
def f(x):
    return net(x)


# no_grad over staticmethod
class Net(nn.Module):
    @torch.no_grad()
    @staticmethod
    def g(x):
        return x * x.sum().item()
    def forward(self, x):
        return Net.g(x + 1)
net = Net()
def f(x):
    return net(x)


# no_grad under staticmethod on self
class Net(nn.Module):
    @staticmethod
    @torch.no_grad()
    def g(x):
        return x * x.sum().item()
    def forward(self, x):
        return self.g(x + 1)
net = Net()
def f(x):
    return net(x)


# staticmethod as a function
class Net(nn.Module):
    def g(x):
        return x * x.sum().item()
    g = staticmethod(g)
    def forward(self, x):
        return self.g(x + 1)
net = Net()
def f(x):
    return net(x)


# staticmethod of a function elsewhere
def g(x):
    return x * x.sum().item()
class Net(nn.Module):
    h = staticmethod(g)
    def forward(self, x):
        return self.h(x + 1)
net = Net()
def f(x):
    return net(x)


# function as a class attribute
def g(self, x):
    return x * x.sum().item()
class Net(nn.Module):
    h = g
    def forward(self, x):
        return self.h(x + 1)
net = Net()
def f(x):
    return net(x)


# alias of a method
class Net(nn.Module):
    def g(self, x):
        return x * x.sum().item()
    h = g
    def forward(self, x):
        return self.h(x + 1)
net = Net()
def f(x):
    return net(x)


# forward is an alias
class Net(nn.Module):
    def g(self, x):
        return x * x.sum().item()
    forward = g
net = Net()
def f(x):
    return net(x)


# __getattr__ of a plain object
class Bag:
    def __init__(self, x):
        self.x = x
    def __getattr__(self, name):
        print(name)
        return 3
bag = Bag(1)
def f(x):
    return x * bag.nothing


# __getattr__ of a module
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)
    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.inner, name)
    def forward(self, x):
        return x * self.weight.sum().item()
net = Net()
def f(x):
    return net(x)


# __getattr__ of a module prints
class Net(nn.Module):
    def __getattr__(self, name):
        if name == "size":
            print("asked")
            return 3
        return super().__getattr__(name)
    def forward(self, x):
        return x * self.size
net = Net()
def f(x):
    return net(x)


# hook replaces the output
lin = nn.Linear(3, 3)
lin.register_forward_hook(lambda m, a, out: out.sum().item())
def f(x):
    if lin(x) > 3:
        x = x + 1
    return x


# hook gives a tensor
class Net(nn.Module):
    def forward(self, x):
        return 3
def hook(module, args, out):
    return args[0].sum()
net = Net()
net.register_forward_hook(hook)
def f(x):
    if net(x) > 1:
        x = x + 1
    return x


# hook of a base
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_forward_hook(self.after)
    def after(self, module, args, out):
        print(out.sum().item())
class One(Base):
    def forward(self, x):
        return x * 2
class Two(Base):
    def forward(self, x):
        return x * 3
net = nn.Sequential(One(), Two())
def f(x):
    return net(x)


# hook on a part of a module
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.out = nn.Linear(3, 3)
    def forward(self, x):
        return self.out(self.lin(x))
def show(module, args, out):
    print(out.sum().item())
net = Net()
net.out.register_forward_hook(show)
def f(x):
    return net(x)


# setter through a base's property
class Base(nn.Module):
    @property
    def v(self):
        return self._v
    @v.setter
    def v(self, value):
        print(value)
class Net(Base):
    def forward(self, x):
        self.v = x.sum()
        return x * 2
net = Net()
def f(x):
    return net(x)

""")
TRACED = programs("""
# setter that is fine
class State:
    def __init__(self):
        self._v = 0
    @property
    def v(self):
        return self._v
    @v.setter
    def v(self, value):
        self._v = value * 2
def f(x):
    s = State()
    s.v = x.sum()
    return x * s.v


# hook without a break
lin = nn.Linear(3, 3)
def hook(module, args, out):
    return out * 2
lin.register_forward_hook(hook)
def f(x):
    return lin(x)


# hook registered, never run compiled
lin = nn.Linear(3, 3)
other = nn.Linear(3, 3)
def hook(module, args, out):
    print(out.sum().item())
other.register_forward_hook(hook)
def f(x):
    return lin(x)


# backward silent
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return grad * 2
p = torch.ones(3, requires_grad=True)
def f(x):
    return Fn.apply(x * p)


# pre hook gives other arguments
class Net(nn.Module):
    def forward(self, x):
        if x > 3:
            return 1
        return 2
def before(module, args):
    return (3,)
net = Net()
net.register_forward_pre_hook(before)
def f(x):
    return x * net(x)


# backward hook alone
class Net(nn.Module):
    def forward(self, x):
        return x * 2
net = Net()
net.register_load_state_dict_post_hook(lambda m, keys: print(keys))
def f(x):
    return net(x)


# annotation of another length
class Sizes:
    def given(self, x):
        return x, None, 3
class Table:
    pass
for name in ("one", "two"):
    setattr(Table, name, Sizes())
def sizes(x) -> tuple[torch.Tensor, torch.Tensor | None]:
    return Table.one.given(x)
def f(x):
    same, mask, n = sizes(x)
    if n > 2:
        return same * 2
    return same

""")


@pytest.mark.parametrize("program", BREAKING.values(), ids=BREAKING.keys())
def test_a_break_in_what_is_called_is_told(tmp_path: Path, program: tuple[str, str]) -> None:
    assert told(tmp_path, HEAD + program[0])


@pytest.mark.parametrize("program", TRACED.values(), ids=TRACED.keys())
def test_calls_without_a_break_are_silent(tmp_path: Path, program: tuple[str, str]) -> None:
    assert not told(tmp_path, HEAD + program[0])


@pytest.mark.slow
@pytest.mark.parametrize("program", BREAKING.values(), ids=BREAKING.keys())
def test_dynamo_breaks_there(program: tuple[str, str]) -> None:
    assert breaks_in_calls(HEAD + "".join(program), 3)


@pytest.mark.slow
@pytest.mark.parametrize("program", TRACED.values(), ids=TRACED.keys())
def test_dynamo_does_not_break_elsewhere(program: tuple[str, str]) -> None:
    assert not breaks_in_calls(HEAD + "".join(program), 3)


HOOKED = (
    HEAD
    + """\
def install(module: nn.Module):
    def hook(module, args, out):
        print("called")
    module.register_forward_hook(hook)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3)])
    def forward(self, x):
        for layer in self.layers:
            install(layer)
        return self.layers[0](x)
net = Net()
def f(x):
    return net(x)
"""
)


def test_a_hook_that_compiled_code_registers_is_compiled(tmp_path: Path) -> None:
    assert "TCL120" in _codes(tmp_path, HOOKED, "2.13")


METHOD_BY_HAND = (
    HEAD
    + """\
def sizes(self):
    return self.n
class Cache:
    def __init__(self):
        self.n = 3
def f(x):
    cache = Cache()
    cache.sizes = sizes.__get__(cache)
    return x + cache.sizes()
"""
)


@pytest.mark.slow
def test_methods_are_made_by_hand_in_the_graph_since_torch_2_13() -> None:
    assert breaks_in_calls(METHOD_BY_HAND, 3) == (RELEASE < (2, 13))


@pytest.mark.parametrize(("torch", "codes"), [("2.12", {"TCL180"}), ("2.13", set())])
def test_a_method_that_is_made_by_hand_is_told_before(
    tmp_path: Path, torch: str, codes: set[str]
) -> None:
    assert _codes(tmp_path, METHOD_BY_HAND, torch) == codes


def _codes(folder: Path, text: str, torch: str) -> set[str]:
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    config = with_overrides(Config(folder, compiled=("*:f",)), target_torch=torch)
    return {one.diagnostic.code for one in check_files([path], config).results}
