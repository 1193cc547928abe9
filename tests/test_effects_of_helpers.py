"""A helper that one way of a branch calls runs on both ways after the fix: it may only compute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files

torch = pytest.importorskip("torch", reason="the proofs run torch")

if TYPE_CHECKING:
    from pathlib import Path

CODE = """\
import math

import torch
from torch import nn

SEEN = torch.zeros(1, 3)
NAMES = {"a"}
LIST = [1.0]
ITER = iter([1.0, 2.0, 3.0])
NET = nn.Linear(2, 2)


class Box:
    def __init__(self):
        self.factors = [1.0, 2.0, 3.0]
        self.scaling = {"factor": 2.0}
        self.asked = 0

    def get(self, what="x"):
        self.asked += 1
        return 1.0

    log = get


BOX = Box()


#HELPER


def updated(forward):
    def update(self, positions):
        length = torch.max(positions) + 1
        if length > 4:
            if not hasattr(self, "long"):
                self.long = self.make(#GIVEN)
            self.register_buffer("inverse", self.long, persistent=False)
        else:
            self.original = self.original.to(positions.device)
            self.register_buffer("inverse", self.original, persistent=False)

    def wrapper(self, positions):
        update(self, positions)
        return forward(self, positions)

    return wrapper


class Rotary(nn.Module):
    def __init__(self):
        super().__init__()
        self.make = make
        self.register_buffer("inverse", torch.ones(3), persistent=False)
        self.original = self.inverse

    @updated
    def forward(self, positions):
        return positions[:, None] * self.inverse
"""
# Each has its name, what the helper is given, and the helper.
LOUD = """\
## a parameter is written: SEEN
def make(t):
    t += 1
    return t * 0 + torch.arange(3.0)


## another name of it: SEEN
def make(t):
    u = t
    u += 1
    return t * 0 + torch.arange(3.0)


## a view of it: SEEN
def make(t):
    u = t.view(-1)
    u += 1
    return t * 0 + torch.arange(3.0)


## what may be it: SEEN
def make(t):
    u = torch.asarray(t)
    u *= 2
    return t * 0 + torch.arange(3.0)


## its rows: SEEN
def make(t):
    for row in t:
        row += 1
    return t * 0 + torch.arange(3.0)


## a choice: SEEN
def make(t):
    u = t if True else 1
    u += 1
    return t * 0 + torch.arange(3.0)


## an or: LIST
def make(t):
    u = t or []
    u += [1]
    return torch.ones(3)


## plus: SEEN
def make(t):
    u = +t
    u += 1
    return t * 0 + torch.arange(3.0)


## the larger: SEEN
def make(t):
    u = max(t[:, :1], t[:, 1:2])
    u += 1
    return t * 0 + torch.arange(3.0)


## a walrus: SEEN
def make(t):
    if (u := t) is not None:
        u += 1
    return t * 0 + torch.arange(3.0)


## a global: 1.0
def make(t):
    u = SEEN
    u += 1
    return t * 0 + torch.arange(3.0)


## a list: LIST
def make(t):
    t += [1]
    return torch.ones(3)


## a list of a box: BOX
def make(t):
    u = t.factors
    u += [1]
    return torch.ones(3)


## what is given in a row: SEEN
def make(*t):
    (u,) = t
    u += 1
    return u[0]


## a helper's parameter: SEEN
def helper(v):
    v += 1


def make(t):
    helper(t)
    return t * 0 + torch.arange(3.0)


## an inner function's: SEEN
def make(t):
    def inner(v):
        v += 1

    inner(t)
    return t * 0 + torch.arange(3.0)


## an inner function's by name: SEEN
def make(t):
    def inner(w, v=1.0):
        v += 1

    inner(1.0)
    inner(1.0, v=t)
    return t * 0 + torch.arange(3.0)


## an inner function that is passed on: SEEN
def make(t):
    def inner(v):
        v += 1

    inner(1.0)
    again = inner
    again(t)
    return t * 0 + torch.arange(3.0)


## what an inner function hands back: SEEN
def make(t):
    def inner(v):
        return v

    u = inner(t)
    u += 1
    return t * 0 + torch.arange(3.0)


## part of what a helper hands back: SEEN
def helper(v):
    return 1.0, v


def make(t):
    _, u = helper(t)
    u += 1
    return t * 0 + torch.arange(3.0)


## part of a loop: SEEN
def make(t):
    u = 1.0
    for _ in range(2):
        u = t
    u += 1
    return t * 0 + torch.arange(3.0)


## a set: 1.0
def make(t):
    NAMES.add('b')
    return t * 0 + torch.arange(3.0)


## a set that is given: NAMES
def make(t):
    t.add('b')
    return torch.ones(3)


## a queue: 1.0
def make(t):
    BOX.get('x')
    return t * 0 + torch.arange(3.0)


## a log: BOX
def make(t):
    t.log(10)
    return torch.ones(3)


## a module: 1.0
def make(t):
    NET.double()
    return t * 0 + torch.arange(3.0)


## in place by position: SEEN.sub(1)
def make(t):
    nn.functional.relu(t, True)
    return t * 0 + torch.arange(3.0)


## out in a dict: SEEN
def make(t):
    where = {'out': t}
    torch.add(t, 1, **where)
    return t * 0 + torch.arange(3.0)


## an old name of an initializer: SEEN
def make(t):
    nn.init.eye(t)
    return t * 0 + torch.arange(3.0)


## a decorator: 1.0
def note(f):
    LIST.append(1)
    return f


def make(t):
    @note
    def inner():
        pass

    return t * 0 + torch.arange(3.0)


## a default: 1.0
def make(t):
    def inner(v=LIST.append(1)):
        pass

    return t * 0 + torch.arange(3.0)


## a builtin of the file: 1.0
def list(v):
    LIST.append(1)


def make(t):
    list(t)
    return t * 0 + torch.arange(3.0)


## a builtin's name: 1.0
def make(t, type=LIST.append):
    type(1)
    return t * 0 + torch.arange(3.0)


## an iterator: ITER
def make(t):
    return torch.ones(3) * sum(t)


## an iterator in a loop: ITER
def make(t):
    for _ in t:
        pass
    return torch.ones(3)


## an iterator that is searched: ITER
def make(t):
    return torch.ones(3) * (2.0 in t)


## an iterator that is unpacked: ITER
def make(t):
    a, b, c = t
    return torch.ones(3)


## a starred iterator: ITER
def make(t):
    return torch.ones(3) * len([*t])


## a key: BOX
def make(t):
    sorted([1], key=t.log)
    return torch.ones(3)


## an argument that is written: SEEN.add_(1)
def make(t):
    return t * 0 + torch.arange(3.0)


## an argument that does something: LIST.append(1)
def make(t):
    return torch.ones(3)
"""
QUIET = """\
## numbers and a list of its own: 2.0
def make(t):
    u = t * 2
    u += 1
    v = [u]
    v += [1]
    u = u * len(v)
    return u * torch.arange(3.0)


## tensors of its own: SEEN
def make(t):
    u = torch.arange(3.0).to(t.device).float() - t[0]
    v = 1.0 / (u + 1)
    v /= 2
    return v


## what a helper has made: BOX
def plain(config, **rest):
    if len(rest) > 0:
        raise ValueError(rest)
    made = torch.arange(3.0)
    return made, config.scaling['factor']


def make(t):
    made, factor = plain(t)
    made /= factor
    return made


## inner functions with names of builtins: BOX
def make(t):
    base = t.scaling.get('factor') or 32

    def both(low, high):
        low = math.floor(low / base)
        return max(low, 0), min(math.ceil(high), base - 1)

    def ramp(min, max, size):
        if min == max:
            max += 0.001
        line = (torch.arange(size) - min) / (max - min)
        return torch.clamp(line, 0, 1)

    low, high = both(1, 2)
    return 1 - ramp(low, high, 3).float().to('cpu')


## data that is gone through: BOX
def make(t):
    total = 0
    for factor in t.factors:
        total += factor
    a, b, c = t.factors
    known = a in t.factors and 'factor' in t.scaling.keys()
    return torch.tensor([sum(t.factors), *t.factors[1:]]) * total * known
"""


def _cases(text: str) -> list[Any]:
    parts = (part.partition("\n") for part in text.removeprefix("## ").split("\n## "))
    heads = ((head.partition(": "), helper.strip()) for head, _, helper in parts)
    return [pytest.param(given, helper, id=name) for (name, _, given), helper in heads]


@pytest.mark.parametrize(("given", "helper"), _cases(LOUD))
def test_a_helper_that_does_more_is_not_run_on_both_ways(
    given: str, helper: str, tmp_path: Path
) -> None:
    code = _code(given, helper)
    _run(code, compiled=False)
    assert _fixed(code, tmp_path) == code


@pytest.mark.parametrize(("given", "helper"), _cases(QUIET))
def test_a_helper_that_only_computes_is(given: str, helper: str, tmp_path: Path) -> None:
    code = _code(given, helper)
    fixed = _fixed(code, tmp_path)
    assert fixed != code
    assert _run(code, compiled=False) == _run(fixed, compiled=True)


def _code(given: str, helper: str) -> str:
    return CODE.replace("#HELPER", helper).replace("#GIVEN", given)


def _fixed(code: str, folder: Path) -> str:
    path = folder / "rotary.py"
    path.write_text(code, encoding="utf-8")
    changed = fix_files([path], Config(root=folder, select=("TCL160",))).changed
    return changed[0].after if changed else code


def _run(code: str, *, compiled: bool) -> list[Any]:
    torch._dynamo.reset()
    names: dict[str, Any] = {}
    exec(code, names)
    module = names["Rotary"]()
    call = torch.compile(module, backend="eager", dynamic=False) if compiled else module
    results = [call(torch.arange(float(n))).tolist() for n in (3, 2, 7)]
    return [*results, names["SEEN"].tolist(), names["LIST"], names["NAMES"], names["BOX"].asked]
