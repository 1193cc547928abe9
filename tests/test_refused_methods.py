"""TCL189 and TCL190: which objects are known, and where they may come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files
from tests.test_names_and_training import found

METHODS = {
    "a variable of the file": "o = MADE\n\n\n@torch.compile\ndef f(x):\n    o.CALL\n    return x\n",
    "an attribute of a module": (
        "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.o = MADE\n\n    def forward(self, x):\n        self.o.CALL\n"
        "        return x\n"
    ),
    "a parameter": "@torch.compile\ndef f(x, o: CLASS):\n    o.CALL\n    return x\n",
    "a parameter that may be None": (
        "@torch.compile\ndef f(x, o: CLASS | None):\n    if o is not None:\n        o.CALL\n"
        "    return x\n"
    ),
    "a helper's": (
        "def help(o):\n    o.CALL\n\n\no = MADE\n\n\n@torch.compile\ndef f(x):\n    help(o)\n"
        "    return x\n"
    ),
}
OBJECTS = [
    ("threading.Lock", "threading.Lock()", "acquire()"),
    ("contextvars.ContextVar", "contextvars.ContextVar('c')", "get()"),
    ("torch.Generator", "torch.Generator()", "manual_seed(0)"),
    ("numpy.random.Generator", "numpy.random.default_rng(1)", "normal()"),
    ("datetime.datetime", "datetime.datetime.now()", "isoformat()"),
    ("pathlib.Path", "pathlib.Path('a')", "exists()"),
]
IMPORTS = "import contextvars, datetime, pathlib, threading\nimport numpy\nimport torch\n\n\n"


@pytest.mark.parametrize("program", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize(("cls", "made", "call"), OBJECTS, ids=[cls for cls, *_ in OBJECTS])
def test_a_method_is_found_wherever_its_object_comes_from(
    program: str, cls: str, made: str, call: str, tmp_path: Path
) -> None:
    text = program.replace("MADE", made).replace("CALL", call).replace("CLASS", cls)
    row = IMPORTS.count("\n") + text[: text.index(f"o.{call}")].count("\n") + 1
    assert found(IMPORTS + text, tmp_path, "TCL189") == [("TCL189", row)]


@pytest.mark.parametrize(
    "line",
    [
        "event.is_set()",
        "path.with_suffix('.b')",
        "draws.random()",
        "other.acquire()",
        "hashlib.md5().update(b'')",
        "optimizer.step()",
    ],
)
def test_what_is_traced_or_not_known_is_left_alone(line: str, tmp_path: Path) -> None:
    text = (
        "import hashlib, pathlib, random, threading\nimport torch\nfrom elsewhere import other\n"
        "event = threading.Event()\npath = pathlib.Path('a')\ndraws = random.Random(0)\n"
        "optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], 0.1)\n\n\n"
        f"@torch.compile\ndef f(x):\n    {line}\n    return x\n"
    )
    assert found(text, tmp_path, "TCL189") == []


def test_outside_of_compiled_code_nothing_is_said(tmp_path: Path) -> None:
    text = (
        "import torch\n\ng = torch.Generator()\ng.manual_seed(0)\nx = torch.rand(3, generator=g)\n"
    )
    assert found(text, tmp_path, "TCL189", "TCL190") == []


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("torch.default_generator", ["TCL190"]),
        ("torch.cuda.default_generators[0]", ["TCL190"]),
        ("ours", ["TCL190"]),
        ("passed", ["TCL190"]),
        ("nothing", []),
        ("None", []),
    ],
)
@pytest.mark.parametrize(
    "draw",
    ["torch.rand(3, generator=G)", "x.clone().normal_(generator=G)", "noise(x, generator=G)"],
)
def test_a_generator_is_found_wherever_it_comes_from(
    given: str, expected: list[str], draw: str, tmp_path: Path
) -> None:
    text = (
        "import torch\n\nours = torch.Generator()\nnothing = None\n\n\n"
        "def noise(x, generator=None):\n    return torch.randn(3, generator=generator)\n\n\n"
        "@torch.compile\ndef f(x: torch.Tensor, passed: torch.Generator):\n"
        f"    return x + {draw.replace('G', given)}\n"
    )
    assert [code for code, _ in found(text, tmp_path, "TCL190")] == expected


def test_a_generator_that_may_be_none_is_somebodys_choice(tmp_path: Path) -> None:
    text = (
        "import torch\n\n\nclass Net(torch.nn.Module):\n"
        "    def forward(self, x, generator: torch.Generator | None = None):\n"
        "        return x + torch.rand(3, generator=generator)\n"
    )
    assert [code for code, _ in found(text, tmp_path, "TCL190")] == ["TCL190"]
    path = tmp_path / "program.py"
    assert check_files([path], Config(tmp_path)).results == ()
