"""A name that a fix writes means at its place what the fix means, whatever else is called so."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the programs run before and after their fixes")

from tclint.config import Config, Settings
from tclint.diagnostics import Decline, Edit, Position, Span
from tclint.lint.engine import load_project
from tclint.lint.rewrite import Repair, Splice
from tclint.lint.written import as_meant
from tclint.semantics.events import TensorBranch
from tclint.semantics.interpreter.run import interpret
from tests.before_and_after import fixed, outcome
from tests.samples import one_in

HEAD = "import numpy as np\nimport torch\n"
COUNT = "for k in np.arange(4):\n    total = total + k"
SUM = "total = total[: int(np.sum(x.shape))]"
PROD = "total = total[: int(np.prod(x.shape))]"
TRUE = "parts = [x]\nassert parts"
RETURN = "return total"


def program(*body: str, above: str = "", method: str = "", below: str = "") -> str:
    """A module whose `forward` has the statements of a body."""
    lines = [f"        {line}" for part in (*body, RETURN) for line in part.split("\n")]
    members = [f"    {line}" if line else "" for line in method.split("\n")]
    return "\n".join(
        [
            HEAD, above, "", "class Net(torch.nn.Module):", *members,
            "    def forward(self, x):", "        total = x * 0", *lines, "",
            below, "", "def main():", "    return Net()(torch.ones(4, 3))", "",
        ]
    )  # fmt: skip


OWN_RANGE = "def range(*bounds):\n    return ()\n"
FUNCTION = """
import numpy as np
import torch


def outer(x):
    range = [7]

    @torch.compile
    def inner(total):
        for k in np.arange(4).tolist():
            total = total + k
        return total + range[0]

    return inner(x)


def main():
    return outer(torch.ones(3))
"""
GIVEN = """
import numpy as np
import torch


class Net(torch.nn.Module):
    def forward(self, x, sum=3, math=2):
        return x * np.sum(x.shape).item() * np.prod(x.shape).item() + sum + math


def main():
    return Net()(torch.ones(3))
"""
WRITTEN = {
    "torch's star and a count": program(COUNT, above="from torch import *"),
    "torch's star and a truth": program(TRUE, above="from torch import *"),
    "torch's star and a sum": program(SUM, above="from torch import *"),
    "numpy's star and a truth": program(TRUE, above="from numpy import *"),
    "numpy's star and a sum": program(SUM, above="from numpy import *"),
    "torch's star below numpy's": program(
        COUNT, SUM, above="from numpy import *\nfrom torch import *"
    ),
    "numpy's star below torch's": program(
        COUNT, TRUE, above="from torch import *\nfrom numpy import *"
    ),
    "a star below a condition": program(COUNT, above="if True:\n    from torch import *"),
    "a function of the file": program(COUNT, above=OWN_RANGE),
    "a function further down": program(COUNT, below=OWN_RANGE),
    "a class of the file": program(
        TRUE, above="class bool:\n    def __new__(cls, x):\n        return 0\n"
    ),
    "a global": program(COUNT, above="range = lambda n: []"),
    "a global of a loop": program(COUNT, above="for range in [1]:\n    pass"),
    "a global of a with": program(COUNT, above="import io\nwith io.StringIO() as range:\n    pass"),
    "a global of a walrus": program(TRUE, above="print(bool := 3)"),
    "a global of a match": program(SUM, above="match 3:\n    case sum:\n        pass"),
    "a global of a function": program(
        COUNT, above="def change():\n    global range\n    range = lambda n: []\n", below="change()"
    ),
    "an import by name": program(SUM, above="from torch import max as sum"),
    "a module's name": program(PROD, above="import torch as math"),
    "a global named as a module": program(PROD, above="math = 3"),
    "a local that comes later": program(COUNT, "range = 3"),
    "a local of a nested function": program(COUNT, "def inner():\n    nonlocal range", "range = 3"),
    "a local import": program(COUNT, "from torch import range"),
    "a local that is deleted": program(TRUE, "bool = 3", "del bool"),
    "a local of a comprehension": program(f"{SUM} + [sum for sum in [1]][0]"),
    "a local of a lambda": program("total = (lambda sum: sum + np.sum(x.shape).item())(total)"),
    "a local of a handler": program(COUNT, "try:\n    pass\nexcept ValueError as range:\n    pass"),
    "a local module": program(PROD, "math = 3"),
    "a local of the function around": FUNCTION,
    "parameters": GIVEN,
    "an attribute of the class": program(SUM, method="sum = 3\n"),
    "a method": program(COUNT, SUM, method="def range(self):\n    return 3\n"),
    "a star of Python's": program(COUNT, SUM, above="from math import *"),
}
KEPT = {"an attribute of the class", "a method", "a star of Python's"}


@pytest.mark.parametrize("name", one_in(3, WRITTEN))
@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
def test_a_fix_means_what_it_writes(name: str, unsafe: bool, tmp_path: Path) -> None:
    files = {"program.py": WRITTEN[name]}
    after = fixed(tmp_path, files, unsafe=unsafe)
    assert outcome(tmp_path, after) == outcome(tmp_path, files)
    for written in (" range(4)", "(sum(x.shape)", "bool(parts)"):
        assert name in KEPT or written not in after["program.py"]
    assert name not in KEPT or after != files


BESIDE = {
    "defines it": "def range(n):\n    return []\n",
    "hands torch's on": "from torch import *\n",
    "hands another's on": "from further import *\n",
    "lists it": "__all__ = ['range']\n\n\ndef __getattr__(name):\n    return lambda n: []\n",
}


@pytest.mark.parametrize("beside", BESIDE)
def test_a_module_of_the_project_gives_names_by_a_star(beside: str, tmp_path: Path) -> None:
    files = {
        "program.py": program(COUNT, above="from beside import *"),
        "beside.py": BESIDE[beside],
        "further.py": "range = None\n",
    }
    after = fixed(tmp_path, files)
    assert after == files
    assert outcome(tmp_path, after) == outcome(tmp_path, files)


@pytest.mark.parametrize(
    "beside",
    [
        "from further import *\nlimit = 3\n",
        "__all__ = ['limit']\nlimit = 3\n\n\ndef sum(sizes):\n    return 0\n",
    ],
)
def test_a_module_that_gives_other_names_is_no_obstacle(beside: str, tmp_path: Path) -> None:
    files = {
        "program.py": program(SUM, above="from beside import *"),
        "beside.py": beside,
        "further.py": "from math import *\n_sum = 3\n",
    }
    after = fixed(tmp_path, files)
    assert "(sum(x.shape)" in after["program.py"]
    assert outcome(tmp_path, after) == outcome(tmp_path, files)


def test_a_module_that_nobody_can_read_may_give_any_builtin(tmp_path: Path) -> None:
    files = {"program.py": program(COUNT, above="from nowhere import *")}
    assert fixed(tmp_path, files) == files


POWER = """\
import torch
{star}


@torch.compile
def f(x: torch.Tensor):
    return pow(x, x)


def main():
    return f(torch.ones(4))
"""


TRACED_LATER = Settings(target_torch=(2, 13))
"""A release in which `pow` breaks the graph."""


@pytest.mark.parametrize("star", ["math", "operator", "nowhere", "beside"])
def test_a_builtin_in_the_code_may_be_a_star_s(star: str, tmp_path: Path) -> None:
    files = {
        "program.py": POWER.format(star=f"from {star} import *"),
        "beside.py": "def pow(x, y):\n    return 3\n",
    }
    assert fixed(tmp_path, files, settings=TRACED_LATER) == files
    after = fixed(tmp_path, files, unsafe=True, settings=TRACED_LATER)
    assert (after == files) is (star != "nowhere")
    assert star == "nowhere" or outcome(tmp_path, after) == outcome(tmp_path, files)


@pytest.mark.parametrize("star", ["", "from random import *", "from collections import *"])
def test_a_builtin_in_the_code_that_no_star_gives_is_the_builtin(star: str, tmp_path: Path) -> None:
    files = {"program.py": POWER.format(star=star)}
    after = fixed(tmp_path, files, settings=TRACED_LATER)
    assert "x ** x" in after["program.py"]
    assert outcome(tmp_path, after) == outcome(tmp_path, files)


def test_a_variable_of_the_user_s_may_have_the_name_of_a_builtin(tmp_path: Path) -> None:
    text = """
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        input = torch.relu(x)
        input[input > 3] = input[input > 3] * 3
        return input


def main():
    return Net()(torch.arange(4.0))
"""
    files = {"program.py": text}
    after = fixed(tmp_path, files, unsafe=True)
    assert after != files
    assert outcome(tmp_path, after) == outcome(tmp_path, files)


READ = {
    "int": "def int(x):\n    print(type(x).__name__)\n    return 1",
    "float": "def float(x):\n    print(type(x).__name__)\n    return 1.0",
    "str": "def str(x):\n    return type(x).__name__",
    "print": "def print(*values):\n    seen.extend(type(value).__name__ for value in values)",
    "range": "def range(*values):\n    seen.extend(type(value).__name__ for value in values)",
    "len": "class len(list):\n    def __init__(self, x):\n        seen.append(type(x).__name__)",
    "round": "round = lambda x: seen.append(type(x).__name__)",
    "bool": "bool = lambda x: seen.append(type(x).__name__)",
    "abs": "abs = lambda x: seen.append(type(x).__name__) or x",
    "max": "def max(*values):\n    return [type(value).__name__ for value in values]",
}


@pytest.mark.parametrize("name", one_in(3, READ))
@pytest.mark.parametrize("number", ["np.prod(x.shape)", "np.sum(x.shape)"])
def test_a_builtin_that_the_file_makes_itself_is_no_builtin(
    name: str, number: str, tmp_path: Path
) -> None:
    above = f"seen = []\n\n\n{READ[name]}\n"
    text = program(f"seen.append({name}({number}))", above=above)
    files = {"program.py": text.replace("return total", "return total, seen")}
    after = fixed(tmp_path, files)
    assert outcome(tmp_path, after) == outcome(tmp_path, files)


@pytest.mark.parametrize(("star", "is_declined"), [("torch", True), ("math", False)])
def test_an_annotation_that_is_added_means_the_builtin(
    star: str, is_declined: bool, tmp_path: Path
) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        f"from {star} import *\nimport torch\n\n\n@torch.compile\ndef f(x, n):\n"
        "    if x.sum() > n:\n        return x\n    return -x\n"
    )
    config = Config(root=tmp_path)
    project = load_project([path], config)
    events = interpret(project, [path], config, (TensorBranch,)).finish()
    [event] = [one for one in events if isinstance(one, TensorBranch)]
    place = Span(Position(6, 11), Position(6, 11))
    repair = Repair("Say what it is", (Splice(Edit(place, ": int")),))
    judged = as_meant(repair, event.site, project)
    assert isinstance(judged, Decline) is is_declined
