"""Tensors of a class of the project: its methods, its properties and its __getattr__ are followed.

Each program was compiled with Dynamo.
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
# __getattr__ of a tensor subclass
class MyT(torch.Tensor):
    def __getattr__(self, name):
        print(name)
        return 3
def f(x):
    return x.as_subclass(MyT).nothing * x


# method of a tensor subclass
class MyT(torch.Tensor):
    def big(self):
        return self.sum().item() > 1
def g(x: MyT):
    return x * 2 if x.big() else x
t = torch.ones(3).as_subclass(MyT)
def f(x):
    return x + g(t)


# property of a tensor subclass
class MyT(torch.Tensor):
    @property
    def big(self):
        return self.sum().item() > 1
def g(x: MyT):
    return x * 2 if x.big else x
t = torch.ones(3).as_subclass(MyT)
def f(x):
    return x + g(t)


# a static method of a tensor subclass
class MyT(torch.Tensor):
    @staticmethod
    def scaled(x):
        return x * x.sum().item()
def f(x):
    return MyT.scaled(x)


# annotated subclass read
class MyT(torch.Tensor):
    pass
def g(x: MyT):
    return x * x.sum().item()
t = torch.ones(3).as_subclass(MyT)
def f(x):
    return x + g(t)


# a branch on one
class MyT(torch.Tensor):
    pass
def g(x: MyT):
    if x.sum() > 1:
        return x + 1
    return x
t = torch.ones(3).as_subclass(MyT)
def f(x):
    return x + g(t)


# a method over a method of tensors
class MyT(torch.Tensor):
    def sum(self):
        print("sum")
        return super().sum()
t = torch.ones(3).as_subclass(MyT)
def f(x):
    return x + t.sum()


# base of a base
class Base(torch.Tensor):
    def big(self):
        return self.sum().item() > 1
class MyT(Base):
    pass
t = torch.ones(3).as_subclass(MyT)
def f(x):
    return x * 2 if t.big() else x


# asked whether it is one
class MyT(torch.Tensor):
    pass
def g(x: MyT):
    if not isinstance(x, MyT):
        raise TypeError
    return x * x.sum().item()
t = torch.ones(3).as_subclass(MyT)
def f(x):
    return x + g(t)


# asked whether it is of a class below
class MyT(torch.Tensor):
    pass
class Below(MyT):
    pass
def g(x: MyT):
    if isinstance(x, Below):
        return x * x.sum().item()
    return x
t = torch.ones(3).as_subclass(Below)
def f(x):
    return x + g(t)


# what the class says of its attributes
class MyT(torch.Tensor):
    data_: torch.Tensor
t = torch.ones(3).as_subclass(MyT)
t.data_ = torch.ones(3)
def g(x: MyT):
    if x.data_.sum() > 1:
        return x + 1
    return x
def f(x):
    return x + g(t)

""")
TRACED = programs("""
# silent: a method that only computes
class MyT(torch.Tensor):
    def twice(self):
        return self * 2
t = torch.ones(3).as_subclass(MyT)
def f(x):
    return x + t.twice()


# silent: a property of the shape
class MyT(torch.Tensor):
    @property
    def wide(self):
        return self.shape[0] > 2
t = torch.ones(3).as_subclass(MyT)
def f(x):
    return x + 1 if t.wide else x


# silent: a method over a method of tensors
class MyT(torch.Tensor):
    def item(self):
        return 3
t = torch.ones(3).as_subclass(MyT)
def f(x):
    return x * t.item()


# silent: an attribute of the object
class MyT(torch.Tensor):
    pass
t = torch.ones(3).as_subclass(MyT)
t.scale = 3
def f(x):
    if t.scale > 2:
        x = x + 1
    return x

""")


@pytest.mark.parametrize("program", BREAKING.values(), ids=BREAKING.keys())
def test_a_break_in_a_tensor_class_is_told(tmp_path: Path, program: tuple[str, str]) -> None:
    assert told(tmp_path, HEAD + program[0])


@pytest.mark.parametrize("program", TRACED.values(), ids=TRACED.keys())
def test_tensor_classes_without_a_break_are_silent(
    tmp_path: Path, program: tuple[str, str]
) -> None:
    assert not told(tmp_path, HEAD + program[0])


@pytest.mark.slow
@pytest.mark.parametrize("program", BREAKING.values(), ids=BREAKING.keys())
def test_dynamo_breaks_there(program: tuple[str, str]) -> None:
    assert breaks_in_calls(HEAD + "".join(program), 3)


@pytest.mark.slow
@pytest.mark.parametrize("program", TRACED.values(), ids=TRACED.keys())
def test_dynamo_does_not_break_elsewhere(program: tuple[str, str]) -> None:
    assert not breaks_in_calls(HEAD + "".join(program), 3)
