"""What the code of a base calls in a class below it, and what `__call__` does, is compiled.

Each program makes a `net` that `f` calls; the lines behind `#!` break the graph.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.diagnostics import Effect
from tclint.lint.engine import check_files
from tests.dynamo import breaks_in_calls

HEAD = "import torch\nfrom torch import nn\n\n"
USE = "\n\ndef f(x: torch.Tensor):\n    return net(x)\n"
BASE = """\
class Base(nn.Module):
    def forward(self, x):
        return x * self.scale(x)

"""
PROGRAMS = {
    "a method that the base calls and does not declare": BASE
    + """\
class Net(Base):
    def scale(self, x):
        return x.sum().item()  #!

net = Net()
""",
    "a mixin that completes the base": BASE
    + """\
class Scaling:
    def scale(self, x):
        return x.sum().item()  #!

class Net(Scaling, Base):
    pass

net = Net()
""",
    "a forward that comes from a mixin": """\
class Forward:
    def forward(self, x):
        return self.inner(x)

class Net(Forward, nn.Module):
    def inner(self, x):
        return x * x.sum().item()  #!

net = Net()
""",
    "a property that the base reads": """\
class Base(nn.Module):
    def forward(self, x):
        return x * self.factor

class Net(Base):
    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.ones(3))

    @property
    def factor(self):
        return self.last.sum().item()  #!

net = Net()
""",
    "a class two levels below": BASE
    + """\
class Between(Base):
    def other(self, x):
        return x

class Net(Between):
    def scale(self, x):
        return self.other(x).sum().item()  #!

net = Net()
""",
    "a call of its own": """\
class Net(nn.Module):
    def __call__(self, x):
        if x.sum() > 0:  #!
            x = x + 1
        return super().__call__(x)

    def forward(self, x):
        return x * x.max().item()  #!

net = torch.compile(Net(), backend="eager")
""",
    "a call of its own in a child": """\
class Child(nn.Module):
    def __call__(self, x):
        return super().__call__(x * x.sum().item())  #!

    def forward(self, x):
        return x * 2

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x)

net = Net()
""",
}
WHOLE = {
    "a method that nobody calls": BASE + """\
class Net(Base):
    def scale(self, x):
        return 2

    def report(self, x):
        return x.sum().item()

net = Net()
""",
    "a helper of the same name elsewhere": """\
class Base(nn.Module):
    def forward(self, x):
        return x * len(self.extra_repr())

class Net(Base):
    def scale(self, x):
        return x.sum().item()

net = Net()
""",
}  # fmt: skip


def broken_lines(text: str, folder: Path) -> list[int]:
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    found = check_files([path], Config(root=folder)).results
    results = [one.diagnostic for one in found if one.diagnostic.effect is Effect.GRAPH_BREAK]
    return sorted({diagnostic.span.start.row for diagnostic in results})


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_called_below_a_base_is_reported(name: str, tmp_path: Path) -> None:
    text = HEAD + PROGRAMS[name]
    marked = [row for row, line in enumerate(text.splitlines(), 1) if line.endswith("#!")]
    assert broken_lines(text, tmp_path) == marked


@pytest.mark.parametrize("name", WHOLE)
def test_what_nobody_calls_is_not(name: str, tmp_path: Path) -> None:
    assert broken_lines(HEAD + WHOLE[name], tmp_path) == []


@pytest.mark.parametrize("name", (*PROGRAMS, *WHOLE))
def test_dynamo_calls_the_same(name: str) -> None:
    text = HEAD + {**PROGRAMS, **WHOLE}[name] + USE
    assert breaks_in_calls(text, 1) is (name in PROGRAMS)
