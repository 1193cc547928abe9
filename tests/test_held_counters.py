"""Numbers that compiled code counts, by what leads to them: a global variable or something else.

Each program was compiled with Dynamo and called ten times.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files
from tests.dynamo import loaded
from tests.test_plain_objects import programs

HEAD = """\
import torch
from torch import nn


class State:
    def __init__(self):
        self.calls = 0
        self.by_name = {"a": 0}
    def tick(self):
        self.by_name["a"] += 1


class Own(torch.optim.Optimizer):
    def __init__(self, params, start=0):
        super().__init__(params, dict(lr=0.1))
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if "step" not in state:
                    state["step"] = 0
                state["step"] += 1
                p.mul_(1 - group["lr"])


"""
EACH_TIME = programs("""
# a list
SEEN = [0]
def f(x):
    SEEN[0] += 1
    return x * 2


# a dict in a dict, under another name
SEEN = {"a": {"n": 0}}
def f(x):
    inner = SEEN["a"]
    inner["n"] = inner["n"] + 1
    return x * 2


# a dict of an object
STATE = State()
def f(x):
    STATE.tick()
    return x * 2


# a helper that is given the dict
SEEN = {"n": 0}
def count(where):
    where["n"] += 1
def f(x):
    count(SEEN)
    return x * 2


# the state of a parameter in an optimizer
OPTIMIZER = Own([nn.Parameter(torch.ones(3))])
def f(x):
    OPTIMIZER.step()
    return x * 2
""")
AT_MOST_TWICE = programs("""
# a dict of the call
def f(x):
    seen = {"n": 0}
    seen["n"] += 1
    return x * seen["n"]


# what is given
STATE = State()
def f(x, state=STATE):
    state.calls += 1
    return x * 2


# a variable of the function around
def around():
    state = State()
    def f(x):
        state.calls += 1
        return x * 2
    return f
f = around()


# an optimizer of the function around
def around():
    optimizer = Own([nn.Parameter(torch.ones(3))])
    def f(x):
        optimizer.step()
        return x * 2
    return f
f = around()


# a number with a point
SEEN = {"n": 0.0}
def f(x):
    SEEN["n"] += 1
    return x * 2


# a tensor
SEEN = {"n": torch.zeros(())}
def f(x):
    SEEN["n"] += 1
    return x * 2


# text
SEEN = {"n": torch.zeros(()), "names": ""}
def f(x):
    names = dict(SEEN)
    names["names"] += "a"
    return x * 2
""")


def _codes(folder: Path, text: str) -> set[str]:
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    results = check_files([path], Config(root=folder, compiled=("*:f",))).results
    return {one.diagnostic.code for one in results}


def _graphs(text: str) -> int:
    """How many graphs ten calls compile."""
    torch = pytest.importorskip("torch")
    made: list[Any] = []

    def backend(graph: Any, _inputs: Any) -> Any:
        made.append(graph)
        return graph

    function = loaded(text)
    torch._dynamo.reset()
    compiled = torch.compile(function, backend=backend)
    for _ in range(10):
        compiled(torch.ones(3))
    return len(made)


@pytest.mark.parametrize("name", EACH_TIME)
def test_what_recompiles_each_time_is_told(name: str, tmp_path: Path) -> None:
    assert "TCL231" in _codes(tmp_path, HEAD + EACH_TIME[name][0])


@pytest.mark.parametrize("name", AT_MOST_TWICE)
def test_what_does_not_is_silent(name: str, tmp_path: Path) -> None:
    assert "TCL231" not in _codes(tmp_path, HEAD + AT_MOST_TWICE[name][0])


@pytest.mark.slow
@pytest.mark.parametrize("name", EACH_TIME)
def test_dynamo_compiles_each_time(name: str) -> None:
    assert _graphs(HEAD + EACH_TIME[name][0]) >= 8


@pytest.mark.slow
@pytest.mark.parametrize("name", AT_MOST_TWICE)
def test_dynamo_compiles_seldom(name: str) -> None:
    assert _graphs(HEAD + AT_MOST_TWICE[name][0]) <= 3
