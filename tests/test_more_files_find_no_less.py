"""What is found in some files is found at the same lines when more files are checked with them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files
from tclint.semantics.interpreter import contexts

HEAD = "import torch\nfrom torch import nn\n\n"
BASE = (
    HEAD
    + """\
class Base(nn.Module):
    def forward(self, x):
        return self.inner(x) * 2

    def inner(self, x):
        return x + self.step(x)
"""
)
HELPERS = (
    HEAD
    + """\
def reading(x, how="", apply=None, by=None):
    if how.startswith("item"):
        return x * apply(x) if apply else x
    if how == "last":
        return x * x.sum().item()
    return by.step(x) if by else x


def around(function):
    def inner(*args, **kwargs):
        result = function(*args, **kwargs)
        if result.sum() > 0:
            result = result + 1
        return result
    return inner
"""
)


def subclass(number: int) -> str:
    return f"""{HEAD}
from base import Base

class Net{number}(Base):
    def step(self, x):
        return x.sum().item() + {number}
"""


def caller(number: int) -> str:
    how = "last" if number == 9 else f"item{number}"
    return f"""{HEAD}
from helpers import reading

class Strategy{number}:
    def step(self, x):
        return x * x.min().item()

def apply{number}(x):
    return x.max().item()

class Caller{number}(nn.Module):
    def forward(self, x: torch.Tensor):
        y = reading(x, "{how}", apply{number})
        return y + reading(x, "other", by=Strategy{number}())
"""


def decorated(number: int) -> str:
    called = "first(x)" if number == 9 else "x"
    return f"""{HEAD}
from helpers import around

@around
def first(x: torch.Tensor):
    return x * {number}

class Decorated{number}(nn.Module):
    @around
    def helper(self, x: torch.Tensor):
        return x * 2

    def forward(self, x: torch.Tensor):
        return {called} + self.helper(x).min().item()
"""


def compiled(number: int) -> str:
    return f"""{HEAD}
from prepare import compile_it

def run{number}(x: torch.Tensor):
    return x.sum().item()

fast = compile_it(run{number})
"""


KINDS = {"subclass": subclass, "caller": caller, "decorated": decorated, "compiled": compiled}
PREPARE = HEAD + "def compile_it(function):\n    return torch.compile(function)\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, make in KINDS.items():
        for number in range(12):
            (tmp_path / f"{name}{number}.py").write_text(make(number), encoding="utf-8")
    for name, text in (("base", BASE), ("helpers", HELPERS), ("prepare", PREPARE)):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    return tmp_path


def found(root: Path, files: list[Path]) -> set[tuple[str, str, int]]:
    results = check_files(sorted(files), Config(root)).results
    diagnostics = [result.diagnostic for result in results]
    return {(one.path.name, one.code, one.span.start.row) for one in diagnostics}


@pytest.mark.parametrize("kind", KINDS)
def test_the_last_of_many_is_found_like_the_first(kind: str, project: Path) -> None:
    everything = found(project, [*project.glob("*.py")])
    numbers = {name for name, code, _ in everything if code == "TCL101" and name.startswith(kind)}
    assert numbers == {f"{kind}{number}.py" for number in range(12)}


def test_a_run_says_where_it_does_not_follow_all_calls(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contexts.WALKS, "most", 8)
    told = {(name, code) for name, code, _ in found(project, [*project.glob("*.py")])}
    assert "TCL004" in {code for _, code in told}


@pytest.mark.parametrize("seed", range(6))
def test_more_files_find_no_less(seed: int, project: Path) -> None:
    random.seed(seed)
    shared = [project / f"{name}.py" for name in ("base", "helpers", "prepare")]
    others = sorted(set(project.glob("*.py")) - {*shared})
    random.shuffle(others)
    before: set[tuple[str, str, int]] = set()
    for many in (1, 3, 9, 20, len(others)):
        after = found(project, [*shared, *others[:many]])
        assert before <= after
        before = after
