"""Names that `from ... import *` gives: they mean what they mean when they are imported by name."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files

LIBRARY = """\
import torch


def helper(x: torch.Tensor):
    return x.max().item()


class Base(torch.nn.Module):
    def scale(self, x):
        return x * x.max().item()
"""
STARS = "from library import *\nfrom torch.nn import *\nfrom torch.nn.functional import *"
NAMED = "from library import Base, helper\nfrom torch.nn import Linear, Module\n"
NAMED += "from torch.nn.functional import relu"
PROGRAMS = {
    "a function in a variable": """
        @torch.compile
        def f(x: torch.Tensor):
            chosen = helper
            return chosen(x)
        """,
    "a function in a dict": """
        @torch.compile
        def f(x: torch.Tensor):
            return {"max": helper}["max"](x)
        """,
    "a base class": """
        class Net(Base):
            def forward(self, x):
                return self.scale(x)
        """,
    "functions and layers of torch": """
        class Net(Module):
            def __init__(self):
                super().__init__()
                self.layer, self.act = Linear(3, 3), relu

            def forward(self, x):
                y = self.act(self.layer(x))
                return y if y.sum() > 0 else -y
        """,
}


def found(folder: Path, imports: str, program: str) -> list[tuple[str, str, str]]:
    lines = [line[8:] for line in program.splitlines()]
    (folder / "library.py").write_text(LIBRARY)
    (folder / "program.py").write_text("\n".join(["import torch", imports, *lines, ""]))
    run = check_files([folder / "program.py", folder / "library.py"], Config(root=folder))
    found = (result.diagnostic for result in run.results)
    return sorted((one.path.name, one.code, one.message) for one in found)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_name_means_the_same_with_a_star(tmp_path: Path, program: str) -> None:
    named = found(tmp_path, NAMED, program)
    assert named
    assert found(tmp_path, STARS, program) == named


def test_what_another_package_may_give_is_not_torch_s(tmp_path: Path) -> None:
    program = PROGRAMS["functions and layers of torch"].replace("y.sum() > 0", "y > 0")
    assert found(tmp_path, NAMED, program)
    [(_, code, message)] = found(tmp_path, f"{STARS}\nfrom other import *", program)
    assert code == "TCL004"
    assert "may come from `from other import *`" in message


def test_what_the_file_gives_itself_is_not_torch_s(tmp_path: Path) -> None:
    own = "\n\ndef relu(x):\n    return 1\n"
    program = """
        @torch.compile
        def f(x: torch.Tensor):
            return x if relu(x) > 0 else -x
        """
    assert found(tmp_path, f"{STARS}{own}", program) == []


BUILT_IN = """\
from torch.nn.functional import *
{imports}


@torch.compile
def f(x: torch.Tensor):
    y = relu(x)
    if random() < 0.5:
        y = y * sqrt(x)
    return pow(y, x)
"""


def test_the_stars_of_python_give_what_they_have(tmp_path: Path) -> None:
    named = "from math import pow, sqrt\nfrom random import random"
    stars = "from math import *\nfrom random import *"
    expected = found(tmp_path, named, textwrap.indent(BUILT_IN.format(imports=named), " " * 8))
    program = BUILT_IN.format(imports=stars)
    assert {code for _, code, _ in expected} == {"TCL105", "TCL161"}
    assert found(tmp_path, stars, textwrap.indent(program, " " * 8)) == expected
