"""What only a first call reaches is told so; every program is compiled, and its calls counted."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from tclint.config import Config
from tclint.diagnostics import Diagnostic, Worth
from tclint.lint.engine import check_files

HEAD = """\
import torch


class Base(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = None
        self.spare = None
        self.ready = False
        self.count = 0
        self.table = {}
        self.register_buffer("inited", torch.tensor(False))


"""
MODEL = """\
class Model(Base):
    def forward(self, x):
        x = x + 1
        BODY
        return x * 2


call = Model()
"""
ONCE = {
    "is None": "if self.kept is None:\n    print('made')\n    self.kept = x.shape[0]",
    "with others": "if self.training and self.kept is None:\n    print('made')\n    self.kept = 1",
    "flag": "if not self.ready:\n    print('made')\n    self.ready = True",
    "else": "if self.ready:\n    pass\nelse:\n    print('made')\n    self.ready = True",
    "number": "if self.count == 0:\n    print('made')\n    self.count += 1",
    "hasattr": "if not hasattr(self, 'scale'):\n    print('made')\n    self.scale = 2",
    "registered": "if not hasattr(self, 'b'):\n    print('made')\n    "
    "self.register_buffer('b', x.detach())",
    "constant key": "if 'a' not in self.table:\n    print('made')\n    self.table['a'] = 1",
    "empty": "if len(self.table) == 0:\n    print('made')\n    self.table['a'] = 1",
    "got": "made = self.table.get('a')\nif made is None:\n    print('made')\n    "
    "made = self.table['a'] = 1",
    "alias": "table = self.table\nif 'a' not in table:\n    print('made')\n    table['a'] = 1",
    "callee sets": "if self.kept is None:\n    print('made')\n    self.set_up(x)",
    "leaves": "if self.kept is not None:\n    return x * self.kept\nprint('made')\nself.kept = 3",
    "both ways": "if self.kept is None:\n    print('made')\n    if x.shape[0] > 2:\n"
    "        self.kept = 1\n    else:\n        self.kept = 2",
    "inside of the callee": "if self.kept is None:\n    self.print_and_set(x)",
    "loop in the callee": "if self.kept is None:\n    self.print_in_a_loop(x)",
    "computed": "size = x.shape[0] + 1\nif not self.count:\n    print('made')\n"
    "    self.count = size",
    "counted behind": "if self.count == 0:\n    print('made')\nx = x + 3\nself.count += 1",
    "less than one": "if self.training and self.count < 1:\n    print('made')\n"
    "self.count = self.count + 1",
    "counted before": "self.count += 1\nif self.count == 1:\n    print('made')",
    "set behind": "if not self.ready:\n    print('made')\nx = x + 3\nself.ready = True",
    "set outside of with": "with torch.no_grad():\n    if self.kept is None:\n"
    "        print('made')\nself.kept = x.detach()",
    "both are set": "if self.kept is None or not self.ready:\n    print('made')\n"
    "    self.kept = 1\n    self.ready = True",
    "filled": "if not hasattr(self, 'b'):\n    print('made')\n    setattr(self, 'b', 1)",
}
METHODS = """\

    def set_up(self, x):
        self.kept = x.shape[0]

    def print_and_set(self, x):
        print('made')
        self.kept = 2

    def guarded(self, x):
        if self.kept is None:
            print('made')
            self.kept = 1
        return x * 2

    def print_in_a_loop(self, x):
        for i in range(3):
            print('made')
        self.kept = 2
"""
EACH = {
    "leaves, and is emptied behind": "if 'a' in self.table:\n    return x * 5\nprint('made')\n"
    "self.table['a'] = 1\nself.table = {}",
    "plain": "print('made')",
    "counted in rounds": "self.count += 1\nif self.count == 2:\n    print('made')\n"
    "    self.count = 0",
    "left before it is counted": "if self.count == 0:\n    print('made')\n"
    "if x.shape[0] < 9:\n    return x * 5\nself.count += 1",
    "perhaps counted": "if self.count == 0:\n    print('made')\nif x.shape[0] > 9:\n"
    "    self.count += 1",
    "leaves, uncounted": "if self.count == 0:\n    print('made')\n    return x * 5\n"
    "self.count += 1",
    "counted and put back": "if self.count == 0:\n    print('made')\nself.count += 1\n"
    "self.count = 0",
    "never set": "if self.kept is None:\n    print('made')",
    "set to the same": "if self.kept is None:\n    print('made')\n    self.kept = None",
    "perhaps": "if self.kept is None:\n    print('made')\n    if x.shape[0] > 9:\n"
    "        self.kept = 1",
    "local": "kept = {}\nif 'a' not in kept:\n    print('made')\n    kept['a'] = 1",
    "put back": "self.kept = None\nif self.kept is None:\n    print('made')\n    self.kept = 1",
    "emptied": "if 'a' not in self.table:\n    print('made')\n    self.table['a'] = 1\n"
    "self.table.clear()",
    "another key": "if 'a' not in self.table:\n    print('made')\n    self.table['b'] = 1",
    "other side": "if self.ready:\n    pass\nelse:\n    print('made')\nself.count = 1",
    "a size or what is asked anew": "if x.shape[0] > self.count or x.sum() is None:\n"
    "    print('made')\n    self.count = x.shape[0]\n    self.count = 0",
    "set behind to what is None": "if self.kept is None:\n    print('made')\n"
    "self.kept = self.spare",
    "an or of two": "if self.count != x.shape[0] or not self.ready:\n    print('made')\n"
    "    self.count = x.shape[0]",
    "another size": "if self.count != x.shape[0]:\n    print('made')\n    self.count = 2",
    "either": "if self.kept is None or x.shape[0] > 1:\n    print('made')\n    self.kept = 1",
}
DROPPED = {
    "loop": "for i in range(3):\n    if i not in self.table:\n        print('made')\n"
    "        self.table[i] = 1",
    "try": "try:\n    if self.kept is None:\n        print('made')\n        self.kept = 1\n"
    "    x = x + 1\nexcept ValueError:\n    pass",
    "guard in the callee of a loop": "for i in range(3):\n    x = self.guarded(x)",
    "loop around the callee": "for i in range(3):\n    if self.kept is None:\n"
    "        self.print_and_set(x)",
}


def write(folder: Path, body: str, more: str = "") -> Path:
    inside = body.replace("\n", "\n        ")
    text = (HEAD + MODEL).replace("BODY", inside)
    text = text.replace("\n\n\ncall = Model()", f"\n{METHODS}{more}\n\ncall = Model()")
    path = folder / "program_of_first_calls.py"
    path.write_text(text, encoding="utf-8")
    return path


def told(path: Path) -> list[Diagnostic]:
    found = check_files([path], Config(path.parent)).results
    return [one.diagnostic for one in found if one.diagnostic.code == "TCL120"]


def breaks(folder: Path, *, warm: bool = False) -> list[tuple[int, int]]:
    """The graph breaks and the graphs that ran, in each of four calls."""
    torch = pytest.importorskip("torch")
    from torch._dynamo.utils import counters

    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    torch._dynamo.reset()
    counters.clear()
    ran = [0]

    def backend(graph: Any, inputs: object) -> Any:
        def run(*given: object) -> object:
            ran[0] += 1
            return graph(*given)

        return run

    try:
        call = importlib.import_module("program_of_first_calls").call
        if warm:
            call(torch.ones(3))
        compiled = torch.compile(call, backend=backend)
        seen = []
        for _ in range(4):
            before = sum(counters["graph_break"].values()), ran[0]
            compiled(torch.ones(3))
            seen.append((sum(counters["graph_break"].values()) - before[0], ran[0] - before[1]))
        return seen
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("program_of_first_calls", None)
        torch._dynamo.reset()


@pytest.mark.parametrize("name", ONCE)
def test_the_first_call_alone_breaks_the_graph(tmp_path: Path, name: str) -> None:
    (found,) = told(write(tmp_path, ONCE[name]))
    assert found.message.endswith(" in the first call")
    assert found.worth is Worth.LOW
    first, _, *later = breaks(tmp_path)
    assert first[0] > 0
    assert later == [(0, 1), (0, 1)]
    assert breaks(tmp_path, warm=True) == [(0, 1)] * 4  # what the advice says


def test_a_number_that_a_counter_comes_to_later_is_told_of_one_call(tmp_path: Path) -> None:
    path = write(tmp_path, "self.count += 1\nif self.count == 3:\n    print('made')")
    (found,) = told(path)
    assert found.message.endswith(" in one call")
    assert "first" not in found.instead
    assert [one > 0 for one, _ in breaks(tmp_path)] == [False, False, True, False]


@pytest.mark.parametrize("name", EACH)
def test_what_each_call_reaches_is_told_as_before(tmp_path: Path, name: str) -> None:
    (found,) = told(write(tmp_path, EACH[name]))
    assert found.message == "`print` breaks the graph"
    assert found.worth is Worth.MEDIUM
    assert breaks(tmp_path)[-1][1] == 2  # the graph is in two pieces for good


@pytest.mark.parametrize("name", DROPPED)
def test_a_break_in_a_loop_of_the_first_call_costs_each_call(tmp_path: Path, name: str) -> None:
    (found,) = told(write(tmp_path, DROPPED[name]))
    assert "first call" not in found.message
    ran = breaks(tmp_path)[-1][1]
    assert ran == (3 if name.startswith("guard") else 0)  # no graph, or one in each round, for good
    assert breaks(tmp_path, warm=True)[-1] == (0, 1)


@pytest.mark.parametrize(
    "name, more",
    {
        "is None": "def forget(self):\n        self.kept = None",
        "flag": "def forget(self):\n        self.ready = False",
        "number": "def forget(self, to):\n        self.count = to",
        "constant key": "def forget(self, to):\n        self.table = to",
        "empty": "def forget(self):\n        self.table.clear()",
    }.items(),
)
def test_what_another_method_puts_back_is_not_told_to_be_over(
    tmp_path: Path, name: str, more: str
) -> None:
    (found,) = told(write(tmp_path, ONCE[name], f"\n    {more}\n"))
    assert "first call" not in found.message


OPTIMIZER = """\
import torch


class Adder(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 0.1})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                BODY
"""
STATES = {
    "if len(state) == 0:": 1,
    "if not state:": 1,
    "if 'step' not in state:": 1,
    "if state.get('step') is None:": 1,
    "if p not in self.state or True:": 0,
}


@pytest.mark.parametrize("test", STATES)
def test_the_state_of_an_optimizer_is_made_once(tmp_path: Path, test: str) -> None:
    path = tmp_path / "optimizer.py"
    make = "state['step'] = torch.tensor(0.0, device=p.device)"
    text = OPTIMIZER.replace("BODY", f"{test}\n                    {make}")
    path.write_text(text, encoding="utf-8")
    results = check_files([path], Config(tmp_path, weak=True)).results
    (found,) = (one.diagnostic for one in results if one.diagnostic.code == "TCL310")
    assert found.message.endswith(" in the first call") is bool(STATES[test])
    assert found.weak is bool(STATES[test])


COUNTS = {
    "if self.count == 0:\n    self.count += 1": 0,
    "if len(self.table) == 0:\n    self.table['a'] = 1\n    self.count += 1": 0,
    "if self.count < 9:\n    self.count += 1": 1,
}


@pytest.mark.parametrize("body", COUNTS)
def test_what_the_first_call_alone_counts_does_not_recompile_for_good(
    tmp_path: Path, body: str
) -> None:
    torch = pytest.importorskip("torch")
    path = write(tmp_path, body)
    results = check_files([path], Config(tmp_path, select=("TCL220",))).results
    assert len(results) == COUNTS[body]
    sys.path.insert(0, str(tmp_path))
    importlib.invalidate_caches()
    torch._dynamo.reset()
    try:
        model = importlib.import_module("program_of_first_calls").call
        made = [0]

        def backend(graph: Any, inputs: object) -> Any:
            made[0] += 1
            return graph

        compiled = torch.compile(model, backend=backend)
        for _ in range(6):
            compiled(torch.ones(3))
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("program_of_first_calls", None)
    assert (made[0] > 2) is bool(COUNTS[body])
