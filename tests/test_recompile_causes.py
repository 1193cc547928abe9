"""Which state, sizes and numbers make compiled code compile again, and which do not."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files
from tests.dynamo import MEASURED

MODULE = """\
import numpy as np
import torch
from torch import nn

SEEN = []
KNOWN = set()
CALLS = 0


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = []
        self.cache = {{}}
        self.size = 0

    def forward(self, x):
        n = x.shape[0]
{body}
        return x * 2

{more}

net = torch.compile(Net())
"""


def found(body: str, folder: Path, codes: tuple[str, ...], more: str = "") -> list[tuple[str, str]]:
    """Code and confidence of every finding in a module's forward."""
    path = folder / "program.py"
    text = MODULE.format(body=indent(body, " " * 8), more=indent(more, " " * 4))
    path.write_text(text, encoding="utf-8")
    config = Config(folder, select=codes, weak=True, settings=MEASURED)
    run = check_files([path], config)
    assert not run.errors
    return [(r.diagnostic.code, r.diagnostic.confidence.value) for r in run.results]


@pytest.mark.parametrize(
    ("body", "more", "expected"),
    [
        ("self.kept.append(x)", "", ["high"]),
        ("self.kept.extend([x, x])", "", ["high"]),
        ("SEEN.append(n)", "", ["high"]),
        ("self.kept.append(x)", "def reset(self):\n    self.kept.clear()\n", ["low"]),
        ("self.kept.append(x)", "def reset(self):\n    self.kept = []\n", ["low"]),
        ("self.kept.append(x)\nself.kept.pop()", "", []),
        ("self.kept.append(x)\nif n > 3:\n    del self.kept[:]", "", []),
        ("self.kept = []\nself.kept.append(x)", "", []),
        ("mine = []\nmine.append(x)", "", []),
        ("KNOWN.add(n)", "", []),
        ("self.kept.append(x)\nif n > 3:\n    return x", "", ["high"]),
    ],
    ids=[
        "append", "extend", "global", "cleared by a method", "set by a method", "popped",
        "deleted", "made anew", "a local list", "a set", "an early return of something else",
    ],
)  # fmt: skip
def test_a_list_grows_unless_something_empties_it(
    body: str, more: str, expected: list[str], tmp_path: Path
) -> None:
    levels = [level for _, level in found(body, tmp_path, ("TCL222",), more)]
    assert levels == expected


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("self.cache[n] = x", 1),
        ("self.cache[n, x.device] = x", 1),
        ("self.cache['last'] = x", 0),
        ("self.cache[x.dtype] = x", 0),
        ("mine = {}\nmine[n] = x", 0),
    ],
)
def test_a_dict_counts_where_the_key_holds_a_size(body: str, count: int, tmp_path: Path) -> None:
    assert len(found(body, tmp_path, ("TCL223",))) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("if n > self.size:\n    self.size = n", 1),
        ("if self.size != n:\n    self.size = x.shape[0]", 1),
        ("self.size = n", 0),
        ("self.size = n\nif self.size > 3:\n    x = x + 1", 0),
        ("if n > self.size:\n    self.size = self.size + n", 0),
        ("if self.size > n:\n    self.size = min(n, 3)", 0),
        ("if self.size > n:\n    self.size = 3", 0),
        ("if self.size is None:\n    self.size = n", 0),
        ("if self.size is None or self.size != n:\n    self.size = n", 1),
    ],
)
def test_a_size_counts_where_a_condition_reads_it(body: str, count: int, tmp_path: Path) -> None:
    assert len(found(body, tmp_path, ("TCL224",))) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("global CALLS\nCALLS += 1", 1),
        ("global CALLS\nCALLS = 1", 0),
        ("global CALLS\nCALLS += 0.5", 0),
        ("calls = 0\ncalls += 1", 0),
    ],
)
def test_a_global_counts_where_it_is_counted(body: str, count: int, tmp_path: Path) -> None:
    assert len(found(body, tmp_path, ("TCL225",))) == count


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = x / np.sqrt(n)", ["medium"]),
        ("x = x / np.sqrt(x.shape[-1])", ["low"]),
        ("x = x[: int(np.ceil(n / 2))]", ["medium"]),
        ("x = x / np.sqrt(4)", []),
        ("x = x / np.log(n)", []),
        ("x = x * np.sqrt(x[:1].numel() / x.numel())", []),
        ("for _ in range(int(np.ceil(n / 2))):\n    x = x + 1", []),
    ],
)
def test_numpy_counts_where_math_would_stay_symbolic(
    body: str, expected: list[str], tmp_path: Path
) -> None:
    assert [level for _, level in found(body, tmp_path, ("TCL226",))] == expected


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("self.cache[n] = torch.linalg.pinv(x)", 0),
        ("self.cache[n] = torch.pinverse(x)", 0),
        ("y = torch.svd(x)\nself.cache[n] = y", 0),
        ("self.cache[n] = x.exp()", 1),
    ],
)
def test_what_is_dear_is_worth_keeping(body: str, count: int, tmp_path: Path) -> None:
    assert len(found(body, tmp_path, ("TCL223",))) == count


OBSERVER = """\
import torch
from torch import nn


class Observer(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        {body}


net = torch.compile(Observer())
"""


@pytest.mark.parametrize(
    ("body", "level"),
    [
        ("return x", "low"),
        ("y = x * 2; return x", "low"),
        ("return x * 2", "high"),
        ("x = x * 2; return x", "high"),
    ],
)
def test_who_hands_its_input_on_only_observes(body: str, level: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(OBSERVER.format(body=body), encoding="utf-8")
    config = Config(tmp_path, select=("TCL220",), weak=True)
    (result,) = check_files([path], config).results
    assert result.diagnostic.confidence.value == level
