"""Functions kept out of compiled code, by whatever name `torch.compiler.disable` has there.

Each program was compiled with Dynamo. The calls are among the weak findings: it is asked for.
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
# disable through getattr or
_disable = getattr(torch.compiler, "disable", None) or (lambda fn: fn)
@_disable
def g(x):
    return x * 2
def f(x):
    return g(x + 1)


# disable through getattr default
_disable = getattr(torch.compiler, "disable", lambda fn: fn)
@_disable
def g(x):
    return x * 2
def f(x):
    return g(x + 1)


# disable through hasattr
disable = torch.compiler.disable if hasattr(torch.compiler, "disable") else (lambda fn: fn)
@disable
def g(x):
    return x * 2
def f(x):
    return g(x + 1)


# disable through try
try:
    from torch.compiler import disable
except ImportError:
    def disable(fn):
        return fn
@disable
def g(x):
    return x * 2
def f(x):
    return g(x + 1)


# disable through hasattr statement
if hasattr(torch, "compiler") and hasattr(torch.compiler, "disable"):
    no_compile = torch.compiler.disable
else:
    def no_compile(fn):
        return fn
@no_compile
def g(x):
    return x * 2
def f(x):
    return g(x + 1)


# disable through getattr of getattr
_disable = getattr(getattr(torch, "compiler", None), "disable", None)
def no_compile(fn):
    return _disable(fn) if _disable is not None else fn
@no_compile
def g(x):
    return x * 2
def f(x):
    return g(x + 1)


# disable or the old one
disable = getattr(torch.compiler, "disable", None) or torch._dynamo.disable
@disable
def g(x):
    return x * 2
def f(x):
    return g(x + 1)


# disable as a call of getattr
def g(x):
    return x * 2
g = getattr(torch.compiler, "disable")(g)
def f(x):
    return g(x + 1)


# disable with a reason
_disable = getattr(torch.compiler, "disable", None) or (lambda fn=None, **k: fn)
@_disable(recursive=True)
def g(x):
    return x * 2
def f(x):
    return g(x + 1)


# disabled in a module's method
_disable = getattr(torch.compiler, "disable", None) or (lambda fn: fn)
class Net(nn.Module):
    @_disable
    def log(self, x):
        print(x)
    def forward(self, x):
        self.log(x)
        return x * 2
net = Net()
def f(x):
    return net(x)


# disable aliased inside a function
def make():
    disable = getattr(torch.compiler, "disable", None) or (lambda fn: fn)
    @disable
    def g(x):
        return x * 2
    return g
g = make()
def f(x):
    return g(x + 1)


# disabled in a backward
@torch.compiler.disable
def g(x):
    return x * 2
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return g(grad)
def f(x):
    return Fn.apply(x.requires_grad_() if False else x * p)
p = torch.ones(3, requires_grad=True)


# disabled backward itself
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    @torch.compiler.disable
    def backward(ctx, grad):
        return grad * 2
p = torch.ones(3, requires_grad=True)
def f(x):
    return Fn.apply(x * p)


# disabled backward outside
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @torch.compiler.disable
    @staticmethod
    def backward(ctx, grad):
        return grad * 2
p = torch.ones(3, requires_grad=True)
def f(x):
    return Fn.apply(x * p)


# disabled forward
class Fn(torch.autograd.Function):
    @staticmethod
    @torch.compiler.disable
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return grad * 2
p = torch.ones(3, requires_grad=True)
def f(x):
    return Fn.apply(x * p)


# disabled function in the forward of one
@torch.compiler.disable
def g(x):
    return x * 2
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return g(x)
    @staticmethod
    def backward(ctx, grad):
        return grad * 2
p = torch.ones(3, requires_grad=True)
def f(x):
    return Fn.apply(x * p)


# disabled through a helper in the backward
@torch.compiler.disable
def g(x):
    return x * 2
def helper(x):
    return g(x) + 1
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return helper(grad)
p = torch.ones(3, requires_grad=True)
def f(x):
    return Fn.apply(x * p)


# backward with setup_context
@torch.compiler.disable
def g(x):
    return x * 2
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 2
    @staticmethod
    def setup_context(ctx, inputs, output):
        pass
    @staticmethod
    def backward(ctx, grad):
        return g(grad)
p = torch.ones(3, requires_grad=True)
def f(x):
    return Fn.apply(x * p)


# a disabled function in setup_context
@torch.compiler.disable
def g(x):
    return x * 2
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 2
    @staticmethod
    def setup_context(ctx, inputs, output):
        g(output)
    @staticmethod
    def backward(ctx, grad):
        return grad
p = torch.ones(3, requires_grad=True)
def f(x):
    return Fn.apply(x * p)


# apply by alias
@torch.compiler.disable
def g(x):
    return x * 2
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return g(grad)
apply = Fn.apply
p = torch.ones(3, requires_grad=True)
def f(x):
    return apply(x * p)


# disable under staticmethod
class Net(nn.Module):
    @staticmethod
    @torch.compiler.disable
    def g(x):
        return x * 2
    def forward(self, x):
        return self.g(x + 1)
net = Net()
def f(x):
    return net(x)


# plain disabled
@torch.compiler.disable
def g(x):
    return x * 2
def f(x):
    return g(x + 1)


# plain disabled with reason
@torch.compiler.disable(recursive=True)
def g(x):
    return x * 2
def f(x):
    return g(x + 1)


# disabled used after
@torch.compiler.disable
def g(x):
    return x * 2
def f(x):
    y = g(x + 1)
    return y * 3


# local decorator import
def make():
    from torch.compiler import disable
    class Net(nn.Module):
        @disable
        def log(self, x):
            return x * 2
        def forward(self, x):
            return self.log(x)
    return Net()
net = make()
def f(x):
    return net(x)

""")
TRACED = programs("""
# not disable
_identity = getattr(torch.compiler, "nothing_like_it", None) or (lambda fn: fn)
@_identity
def g(x):
    return x * 2
def f(x):
    return g(x + 1)

""")


@pytest.mark.parametrize("program", BREAKING.values(), ids=BREAKING.keys())
def test_a_call_of_what_is_kept_out_is_told(tmp_path: Path, program: tuple[str, str]) -> None:
    assert told(tmp_path, HEAD + program[0], weak=True)


@pytest.mark.parametrize("program", TRACED.values(), ids=TRACED.keys())
def test_what_is_compiled_is_silent(tmp_path: Path, program: tuple[str, str]) -> None:
    assert not told(tmp_path, HEAD + program[0], weak=True)


@pytest.mark.slow
@pytest.mark.parametrize("program", BREAKING.values(), ids=BREAKING.keys())
def test_dynamo_breaks_there(program: tuple[str, str]) -> None:
    assert breaks_in_calls(HEAD + "".join(program), 3)


@pytest.mark.slow
@pytest.mark.parametrize("program", TRACED.values(), ids=TRACED.keys())
def test_dynamo_does_not_break_elsewhere(program: tuple[str, str]) -> None:
    assert not breaks_in_calls(HEAD + "".join(program), 3)
