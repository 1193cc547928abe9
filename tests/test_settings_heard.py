"""What a program tells Dynamo and `torch.compile`, however it is written, is heard.

``print`` may be reordered: each program was compiled, and breaks where `check` says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files
from tests.dynamo import breaks

KEPT = (
    "print(x)", "print(x, x.sum(), 1, 'a')", 'print(f"{x.sum()}")', 'print(f"{x.sum():.3f}")',
    'print("{}".format(x))', "print(x, sep='', end='')",
    "print(x, flush=True)", "print(*[x, x])", "print(x.sum() > 1)", "print(x.device, x.dtype)",
    "print(x % 2)", "print('%d' % 2, x)",
    "print()", "y = print(x)", "for i in range(2):\n        print(i, x)",
)  # fmt: skip
BREAKING = (
    "print(str(x))", "print(repr(x))", "print([x, x])", "print({'a': x})", "print(x.shape)",
    "print('a' + str(x))", "print(x, file=sys.stderr)", "print(float(x[0]))",
    'print(f"{x!r}")', 'print(f"{x!s}")', 'print("%s" % x)', 'print("%s %d" % (x.sum(), 1))',
    "print(x.sum().item())", "print(' '.join(['a', str(x)]))",
)  # fmt: skip
HEAD = "import sys\n\nimport torch\n\n"
ADDED = "torch._dynamo.config.reorderable_logging_functions.add(print)\n"
WAYS = (
    ADDED,
    "torch._dynamo.config.reorderable_logging_functions.update([print])\n",
    "torch._dynamo.config.reorderable_logging_functions = {print}\n",
    "import torch._dynamo.config as c\nc.reorderable_logging_functions.add(print)\n",
    "from torch._dynamo import config\nconfig.reorderable_logging_functions.add(print)\n",
)


def printing(statement: str) -> str:
    return f"\ndef f(x: torch.Tensor):\n    {statement}\n    return x * 2\n"


def codes(text: str, folder: Path, name: str = "program.py") -> list[str]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    config = Config(root=folder, scope="all")
    return [result.diagnostic.code for result in check_files([path], config).results]


@pytest.fixture
def reordered() -> Iterator[None]:
    """Let Dynamo write what it prints behind the graph, and take that back."""
    config = pytest.importorskip("torch._dynamo.config")
    before = set(config.reorderable_logging_functions)
    yield
    config.reorderable_logging_functions = before


@pytest.mark.parametrize("statement", KEPT)
def test_what_can_be_printed_later_is_not_reported(statement: str, tmp_path: Path) -> None:
    assert codes(HEAD + ADDED + printing(statement), tmp_path) == []
    assert codes(HEAD + printing(statement), tmp_path, "without.py") != []


@pytest.mark.parametrize("statement", BREAKING)
def test_what_cannot_be_printed_later_is(statement: str, tmp_path: Path) -> None:
    assert codes(HEAD + ADDED + printing(statement), tmp_path) != []


@pytest.mark.parametrize("statement", (*KEPT, *BREAKING))
@pytest.mark.usefixtures("reordered")
def test_dynamo_prints_the_same_later(statement: str) -> None:
    torch = pytest.importorskip("torch")
    broken = breaks(
        HEAD + ADDED + printing(statement),
        torch.ones(2, 2) if "[0]" not in statement else torch.ones(2),
    )
    assert broken is (statement in BREAKING)


@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_reorder_is_heard(way: str, tmp_path: Path) -> None:
    assert codes(HEAD + way + printing("print(x)"), tmp_path) == []


COUNTING = """
import torch
from torch import nn

SETTING

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x: torch.Tensor):
        self.n += 1
        return x * self.n
"""
VARYING = "torch._dynamo.config.allow_unspec_int_on_nn_module = "


def test_integers_that_may_vary_do_not_recompile(tmp_path: Path) -> None:
    assert codes(COUNTING.replace("SETTING", f"{VARYING}True"), tmp_path, "varying.py") == []
    assert codes(COUNTING.replace("SETTING", f"{VARYING}False"), tmp_path, "fixed.py") == ["TCL220"]
    assert codes(COUNTING.replace("SETTING", ""), tmp_path, "silent.py") == ["TCL220"]


@pytest.mark.parametrize(("on", "compiled"), [(False, 5), (True, 2)])
def test_dynamo_compiles_a_varying_integer_once_more(on: bool, compiled: int) -> None:
    torch = pytest.importorskip("torch")
    from torch._dynamo.testing import CompileCounter

    torch._dynamo.reset()
    space: dict[str, object] = {}
    exec(COUNTING.replace("SETTING", ""), space)
    with torch._dynamo.config.patch(allow_unspec_int_on_nn_module=on):
        counter = CompileCounter()
        net = torch.compile(space["Net"](), backend=counter)  # type: ignore[operator]
        for _ in range(5):
            net(torch.ones(3))
    assert counter.frame_count == compiled


# `.item()` is traced with `fullgraph=True`, so that nothing is to be reported then.
COMPILING = (
    "compiled = torch.compile(g, **{'fullgraph': True})",
    "told = {'fullgraph': True}\ncompiled = torch.compile(g, **told)",
    "told = dict(fullgraph=True, backend='eager')\ncompiled = torch.compile(g, **told)",
    "compiled = torch.compile(fullgraph=True)(g)",
    "compiling = torch.compile(fullgraph=True)\ncompiled = compiling(g)",
    "from functools import partial\ncompiled = partial(torch.compile, fullgraph=True)(g)",
    "compiled = torch._dynamo.optimize('eager', nopython=True)(g)",
    "compiled = torch._dynamo.optimize(nopython=True)(g)",
)


@pytest.mark.parametrize("how", COMPILING)
def test_what_compile_is_told_is_heard(how: str, tmp_path: Path) -> None:
    program = f"{HEAD}\ndef g(x: torch.Tensor):\n    return x * x.sum().item()\n\n{how}\n"
    other = program.replace("True", "False")
    config = Config(root=tmp_path)
    found = []
    for number, text in enumerate((program, other)):
        path = tmp_path / f"program{number}.py"
        path.write_text(text, encoding="utf-8")
        results = check_files([path], config).results
        found.append([r.diagnostic.code for r in results if r.diagnostic.code != "TCL423"])
    assert "TCL101" not in found[0]
    assert "TCL101" in found[1]
