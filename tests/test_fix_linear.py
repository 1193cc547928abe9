"""Fixing costs what the fixes and the text cost: twice the file takes twice the calls."""

from __future__ import annotations

import cProfile
import json
import pstats
from itertools import count, islice
from typing import TYPE_CHECKING

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.fix.diff import patch_of, unified_diff
from tclint.lint.engine import check_files
from tclint.source.write import NewText, write_all

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SMALL, SIZE = 8, 24
LOOK = "flow.py:_simple"
NUMBERS = count(1000)  # none comes twice: what a parser has seen before is at hand
HEAD = "import torch\nimport numpy as np\n\n\n@torch.compile\ndef f(x, y):\n"


def repeated(code: str, number: int) -> str:
    return "".join(code.format(n=n) for n in islice(NUMBERS, number))


def one_function(line: str) -> Callable[[int], str]:
    """A function that goes on with a line, again and again."""
    return lambda number: HEAD + repeated(line, number) + "    return x\n"


def functions(number: int) -> str:
    one = "@torch.compile\ndef f{n}(x):\n    print(x)\n    return x\n\n\n"
    return "import torch\n\n\n" + repeated(one, number)


def without_torch(number: int) -> str:
    """Each fix needs `import torch`, which the file lacks."""
    one = "@compile\ndef f{n}(x):\n    print(x)\n    return x\n\n\n"
    return "from torch import compile\n\n\n" + repeated(one, number)


def notebook(number: int) -> str:
    lines = ["@torch.compile\n", "def f{n}(x):\n", "    print(x)\n", "    return x"]
    cells = [
        {"cell_type": "code", "source": [line.format(n=n) for line in lines]}
        for n in islice(NUMBERS, number)
    ]
    cells.insert(0, {"cell_type": "code", "source": ["import torch\n"]})
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5}, indent=1)


PROGRAMS = {
    "prints": one_function("    print(x)\n    x = x + {n}\n"),
    "prints side by side": one_function("    print(x)\n"),
    "tensors on the host": one_function("    x = x + torch.zeros({n} + 1).to(x.device).sum()\n"),
    "checks": one_function("    if not x.any():\n        raise ValueError('{n}')\n"),
    "numbers from the host": one_function("    x = x + y.sum().item()\n"),
    "in blocks": one_function("    for _ in range(3):\n        print(x)\n        x = x + {n}\n"),
    "an import that the file lacks": without_torch,
    "functions": functions,
}


def calls(folder: Path, code: str, name: str) -> tuple[int, int]:
    """How many fixes are made, and how many calls of functions it takes to make and show them."""
    path = folder / name
    path.write_text(code, encoding="utf-8")
    config, profile = Config(root=folder), cProfile.Profile()
    profile.enable()
    run = fix_files([path], config, unsafe=True)
    for file in run.changed:
        assert unified_diff(file, name)
        assert patch_of(file, name)
    write_all([NewText(file.path, file.after, file.encoding) for file in run.changed])
    profile.disable()
    told = sum(len(file.fixes) for file in run.changed)
    entries = pstats.Stats(profile).stats.values()  # type: ignore[attr-defined]
    return told, sum(entry[1] for entry in entries)


def grows(folder: Path, program: Callable[[int], str], name: str = "m.py") -> float:
    """How many times more the second half of a file takes than the first: 1 where it is linear."""
    calls(folder, program(1), name)  # what is loaded once
    none, first = calls(folder, program(SMALL), name)
    some, half = calls(folder, program(SMALL + SIZE), name)
    all_, whole = calls(folder, program(SMALL + 2 * SIZE), name)
    assert all_ - some == some - none >= SIZE
    return (whole - half) / (half - first)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_more_fixes_in_a_file_cost_no_more_each(
    program: Callable[[int], str], tmp_path: Path
) -> None:
    assert grows(tmp_path, program) < 1.1


def test_more_cells_of_a_notebook_cost_no_more_each(tmp_path: Path) -> None:
    assert grows(tmp_path, notebook, "m.ipynb") < 1.1


def test_what_binds_a_name_is_looked_for_once(tmp_path: Path) -> None:
    """Each finding goes back along the assignments before it; what they bind is known by then."""
    path = tmp_path / "m.py"
    path.write_text(HEAD + "    x = x + x.sum().item()\n" * SIZE, encoding="utf-8")
    profile = cProfile.Profile()
    run = profile.runcall(check_files, [path], Config(root=tmp_path))
    assert len(run.results) == SIZE
    entries = pstats.Stats(profile).stats.items()  # type: ignore[attr-defined]
    asked = sum(e[1] for (file, _, at), e in entries if f"{file}:{at}".endswith(LOOK))
    assert SIZE <= asked <= 2 * SIZE
