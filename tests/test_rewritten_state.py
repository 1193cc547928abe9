"""A branch on what something rewrites goes both ways; on what nothing does, the way it was made.

Each program is called three times: a break in any of the calls counts.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from tclint.config import Config
from tclint.diagnostics import Effect
from tclint.lint.engine import check_files
from tests.dynamo import breaks_in_calls

HEAD = "import torch\nfrom torch import nn\n\n"
NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0
        self.flag = False
        self.cache = None
        self.seen = []
        self.state = {"n": 0, "last": None}

    def forward(self, x: torch.Tensor):
FORWARD
        return x * 2

MORE
REST


def f(x: torch.Tensor):
    return net(x + 1)
"""
SHOW = "    print(float(x[0]), end='')\n"
COUNTED = "if self.count > 1:\n" + SHOW
STATED = "if self.state['n'] > 1:\n" + SHOW
FLAGGED = "if self.flag:\n" + SHOW
MADE = "net = Net()"


def net(forward: str, more: str = "", rest: str = MADE) -> str:
    """A module with this `forward` and more methods, and the lines behind it."""
    text = NET.replace("FORWARD", indent(forward, "        "))
    return HEAD + text.replace("MORE", indent(more, "    ")).replace("REST", rest)


WRITERS = {
    "added": "self.count = self.count + 1",
    "augmented": "self.count += 1",
    "setattr": "setattr(self, 'count', self.count + 1)",
    "object's setattr": "object.__setattr__(self, 'count', self.count + 1)",
    "own setattr": "self.__setattr__('count', self.count + 1)",
    "dict": "self.__dict__['count'] = self.count + 1",
    "vars": "vars(self)['count'] += 1",
    "update of the dict": "self.__dict__.update(count=self.count + 1)",
    "tuple": "self.count, self.flag = self.count + 1, True",
    "alias": "other = self\nother.count += 1",
}
STATES = {
    "item": "self.state['n'] += 1",
    "alias of a dict": "s = self.state\ns['n'] += 1",
    "update": "self.state.update(n=3)",
    "helper": "bump(self.state)",
}
BUMP = "def bump(state):\n    state['n'] += 1\n\n\n" + MADE
BREAKING = {
    "a sum of a parameter that nothing says is a tensor": net(
        "self.cache = x.sum()\nif self.cache > 1:\n    x = x * 3"
    ).replace("x: torch.Tensor", "x"),
    **{f"{name} before": net(f"{text}\n{COUNTED}") for name, text in WRITERS.items()},
    **{f"{name} after": net(f"{COUNTED}{text}") for name, text in WRITERS.items()},
    **{f"{name} before": net(f"{text}\n{STATED}", rest=BUMP) for name, text in STATES.items()},
    **{f"{name} after": net(f"{STATED}{text}", rest=BUMP) for name, text in STATES.items()},
    "method": net("self.bump()\n" + COUNTED, "def bump(self):\n    self.count += 1"),
    "function": net("bump(self)\n" + COUNTED, "", f"def bump(o):\n    o.count += 1\n\n\n{MADE}"),
    "flag by a method": net(
        "self.flag = False\nself.turn(x)\n" + FLAGGED, "def turn(self, x):\n    self.flag = True"
    ),
    "flag by name": net(
        "self.flag = False\nturn(self, 'flag')\n" + FLAGGED,
        "", f"def turn(o, name):\n    setattr(o, name, True)\n\n\n{MADE}",
    ),
    "flag later": net(f"{FLAGGED}self.flag = True"),
    "any name": net(
        f"{COUNTED}self.put('count', 3)", "def put(self, k, v):\n    setattr(self, k, v)"
    ),
    "property": net(
        "if self.big:\n" + SHOW + "self.count += 1",
        "@property\ndef big(self):\n    return self.count > 1",
    ),
    "subclass": net(
        COUNTED, "",
        "class Sub(Net):\n    def forward(self, x):\n        self.count += 1\n"
        "        return super().forward(x)\n\n\nnet = Sub()",
    ),
    "outside": net(COUNTED, "", f"{MADE}\nnet.count = 3"),
    "flag outside": net(FLAGGED, "", f"{MADE}\nnet.flag = True"),
    "function outside": net(
        COUNTED, "", f"{MADE}\ndef prepare(m):\n    m.count = 3\n\n\nprepare(net)"
    ),
    "hook": net(
        COUNTED, "",
        f"{MADE}\ndef hook(m, args):\n    m.count += 1\n\n\nnet.register_forward_pre_hook(hook)",
    ),
    "method outside": net(
        COUNTED, "def advance(self):\n    self.count += 3", f"{MADE}\nnet.advance()"
    ),
    "loop": net(f"{COUNTED}for self.count in range(4):\n    x = x + 1"),
    "list": net(f"if self.seen:\n{SHOW}self.seen.append(1)"),
    "length of a list": net(f"if len(self.seen) > 1:\n{SHOW}self.seen.append(1)"),
    "tensors of a list": net(
        "if self.seen and self.seen[-1].sum() > 1:\n    x = x + 1\nself.seen.append(x.sum())"
    ),
    "tensor of a dict": net(
        "if self.state['last'] is not None and self.state['last'].sum() > 2:\n    x = x + 1\n"
        "self.state['last'] = x"
    ),
    "tensor kept": net(
        "if self.cache is not None:\n    if self.cache.sum() > 1:\n        x = x + 1\n"
        "self.cache = x"
    ),
    "tensor kept at first": net(
        "if self.cache is None:\n    self.cache = x.sum()\nelse:\n    if self.cache > 1:\n"
        "        x = x + 1"
    ),
    "tensor kept for a method": net(
        "y = self.get(x)\nself.cache = x.sum()\nreturn y",
        "def get(self, x):\n    if self.cache is not None and self.cache > 1:\n"
        "        return x + 1\n    return x",
    ),
    "class's count": HEAD + """
class Net(nn.Module):
    count = 0

    def forward(self, x):
        Net.count += 1
        if self.count > 1:
            print(float(x[0]), end='')
        return x * 2


net = Net()


def f(x):
    return net(x + 1)
""",
    "flag of the type": HEAD + """
class Net(nn.Module):
    flag = False

    def forward(self, x):
        if self.flag:
            print(float(x[0]), end='')
        type(self).flag = True
        return x * 2


net = Net()


def f(x):
    return net(x + 1)
""",
    "tensor of the class": HEAD + """
class Net(nn.Module):
    last = None

    def forward(self, x):
        if self.last is not None and self.last.sum() > 1:
            x = x + 1
        self.last = x
        return x * 2


net = Net()


def f(x):
    return net(x + 1)
""",
    "base": HEAD + """
class Base(nn.Module):
    def tick(self):
        self.count = self.count + 1


class Net(Base):
    def __init__(self):
        super().__init__()
        self.count = 0

    def forward(self, x):
        if self.count > 1:
            print(float(x[0]), end='')
        self.tick()
        return x * 2


net = Net()


def f(x):
    return net(x + 1)
""",
    "parent": HEAD + """
class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        if self.n > 1:
            print(float(x[0]), end='')
        return x * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        x = self.child(x)
        self.child.n += 1
        return x


net = Net()


def f(x):
    return net(x + 1)
""",
    "global": HEAD + """
count = 0


def f(x):
    global count
    if count > 1:
        print(float(x[0]), end='')
    count += 1
    return x * 2
""",
    "global of a helper": HEAD + """
count = 0


def bump():
    global count
    count += 1


def f(x):
    bump()
    if count > 1:
        print(float(x[0]), end='')
    return x * 2
""",
    "global turned by a helper": HEAD + """
flag = False


def turn():
    global flag
    flag = True


def f(x):
    global flag
    flag = False
    turn()
    if flag:
        print(float(x[0]), end='')
    return x * 2
""",
    "global list": HEAD + """
seen = []


def f(x):
    if seen:
        print(float(x[0]), end='')
    seen.append(1)
    return x * 2
""",
    "global dict": HEAD + """
state = {"n": 0}


def bump(s):
    s["n"] += 1


def f(x):
    if state["n"] > 1:
        print(float(x[0]), end='')
    bump(state)
    return x * 2
""",
    "global tensor": HEAD + """
last = None


def f(x):
    global last
    if last is not None and last > 1:
        x = x + 1
    last = x.sum()
    return x * 2
""",
    "nonlocal": HEAD + """
def make():
    n = 0

    def inner(x):
        nonlocal n
        if n > 1:
            print(float(x[0]), end='')
        n += 1
        return x * 2

    return inner


f = make()
compiled = torch.compile(f)
""",
    "nonlocal dict": HEAD + """
def make():
    state = {"n": 0}

    def inner(x):
        if state["n"] > 1:
            print(float(x[0]), end='')
        state["n"] += 1
        return x * 2

    return inner


f = make()
compiled = torch.compile(f)
""",
    "nonlocal inside": HEAD + """
def f(x):
    n = 0

    def bump():
        nonlocal n
        n += 1

    bump()
    if n > 0:
        print(float(x[0]), end='')
    return x * 2
""",
}  # fmt: skip
TRACED = {
    "flag": net(FLAGGED),
    "nothing kept": net("if self.cache is not None:\n" + SHOW),
    "item": net("if self.state['n']:\n" + SHOW),
    "empty list": net("if self.seen:\n" + SHOW),
    "set to the same": net(FLAGGED, "def reset(self):\n    self.flag = False"),
    "set by the constructor": HEAD + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.build()

    def build(self):
        self.late = False

    def forward(self, x):
        if self.late:
            print(float(x[0]), end='')
        return x * 2


net = Net()


def f(x):
    return net(x + 1)
""",
    "another class": net(
        FLAGGED, "",
        "class Other:\n    def __init__(self):\n        self.flag = False\n\n"
        f"    def on(self):\n        self.flag = True\n\n\n{MADE}",
    ),
    "another item": net("if self.state['n']:\n" + SHOW + "self.state['last'] = x"),
    "global": HEAD + """
DEBUG = False
SEEN = []


def f(x):
    if DEBUG or SEEN:
        print(float(x[0]), end='')
    return x * 2
""",
    "local of another": HEAD + """
count = 0


def other():
    count = 3
    return count


def f(x):
    if count > 1:
        print(float(x[0]), end='')
    return x * 2
""",
}  # fmt: skip


def told(folder: Path, text: str, *, weak: bool = False) -> bool:
    """Whether `check` names a graph break in what `f` of a program reaches."""
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    config = Config(root=folder, compiled=("*:f",), weak=weak)
    results = check_files([path], config).results
    return any(result.diagnostic.effect is Effect.GRAPH_BREAK for result in results)


@pytest.mark.parametrize("text", BREAKING.values(), ids=BREAKING.keys())
def test_a_branch_on_what_is_rewritten_goes_both_ways(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, text)


@pytest.mark.parametrize("text", TRACED.values(), ids=TRACED.keys())
def test_what_nothing_rewrites_stays_as_it_was_made(tmp_path: Path, text: str) -> None:
    assert not told(tmp_path, text)


@pytest.mark.slow
@pytest.mark.parametrize("text", BREAKING.values(), ids=BREAKING.keys())
def test_dynamo_breaks_once_the_branch_is_taken(text: str) -> None:
    assert breaks_in_calls(text, 3)


@pytest.mark.slow
@pytest.mark.parametrize("text", TRACED.values(), ids=TRACED.keys())
def test_dynamo_does_not_break_where_nothing_is_rewritten(text: str) -> None:
    assert not breaks_in_calls(text, 3)
