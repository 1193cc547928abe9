"""What read an attribute too early is walked again where it is another value, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files, load_project
from tclint.semantics.collect import listed
from tclint.semantics.interpreter.run import interpret
from tclint.semantics.trace import Trace

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = {made}

    def read(self, x):
        if self.kept is not None:
            x = x + 1
        return x

    def forward(self, x):
        x = self.read(x)
        self.kept = {later}
        return x
"""


@pytest.mark.parametrize(
    ("made", "later", "walks"),
    [
        pytest.param("None", "x.relu()", 2, id="a tensor comes where None was"),
        pytest.param("None", "None", 1, id="nothing comes"),
        pytest.param("[torch.ones(3)]", "[torch.ones(3)]", 1, id="more of the same comes"),
    ],
)
def test_what_read_another_value_is_walked_again(
    made: str, later: str, walks: int, tmp_path: Path
) -> None:
    path = tmp_path / "net.py"
    path.write_text(NET.format(made=made, later=later), "utf-8")
    config, trace = Config(tmp_path), Trace()
    project = load_project([path], config)
    interpret(project, [path], config, (), trace)
    module = project.module_at(path)
    assert module is not None
    read = module.classes["Net"].methods["read"]
    assert len(trace.in_regions(read.node)) == walks


CALLED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = None

    def read(self, x):
        kept = self.kept
        return {answer}

    def around(self, x):
        return self.read(x)

    def forward(self, x):
        y = self.around(x)
        self.kept = x.relu()
        return y
"""


@pytest.mark.parametrize(("answer", "walks"), [("x + 1", 1), ("kept", 2)])
def test_callers_are_walked_again_where_another_value_comes_back(
    answer: str, walks: int, tmp_path: Path
) -> None:
    path = tmp_path / "net.py"
    path.write_text(CALLED.format(answer=answer), "utf-8")
    config, trace = Config(tmp_path), Trace()
    project = load_project([path], config)
    interpret(project, [path], config, (), trace)
    module = project.module_at(path)
    assert module is not None
    methods = module.classes["Net"].methods
    assert len(trace.in_regions(methods["read"].node)) == 2
    assert [len(trace.in_regions(methods[name].node)) for name in ("around", "forward")] == [
        walks,
        walks,
    ]


WRAPPED = """\
import functools

import torch
from torch import nn


def logged(function):
    @functools.wraps(function)
    def wrapper(self, x):
        out = function(self, x)
        if self.kept is not None:
            print(out)
        return out

    return wrapper


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = None

    @logged
    def step(self, x):
        return x + 1

    def forward(self, x):
        x = self.step(x)
        self.kept = x.relu()
        return x
"""


def test_a_wrapper_that_read_too_early_is_walked_again(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(WRAPPED, "utf-8")
    run = check_files([path], Config(tmp_path))
    assert ["print" in one.diagnostic.message for one in run.results] == [True]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("__all__ = ['a', 'b']\nOTHERS = ['c']\n", {"a", "b"}),
        ("__all__ = ['a']\n__all__ += ('b',)\n# __all__ ends here\n", {"a", "b"}),
        ("__all__: list[str] = ['a']\n", {"a"}),
        ("__all__ = ['a']\n__all__.append(name)\n", None),
        ("__all__ = [*others]\n", None),
        ("__all__ = ['a']\nif new:\n    __all__ = names()\n", None),
        ("def __getattr__(name):\n    return '__all__'\n", None),
    ],
)
def test_what_all_lists_is_told_where_it_is_spelt_out(
    text: str, names: set[str] | None, tmp_path: Path
) -> None:
    path = tmp_path / "listing.py"
    path.write_text(text, "utf-8")
    module = load_project([path], Config(tmp_path)).module_at(path)
    assert module is not None
    assert listed(module) == names
