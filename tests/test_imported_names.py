"""Imports that happen late, or for some only: what fixes may name, and what names mean."""

from __future__ import annotations

import importlib.util
import logging
import queue
import sys
from logging.handlers import QueueHandler
from pathlib import Path
from typing import Any

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.lint.engine import check_files

HEAD = """\
import logging
from typing import TYPE_CHECKING
{imports}
logger = logging.getLogger(__name__)
"""
GUARD = "torch.compiler.is_compiling()"
ALWAYS = "import torch"
NEVER = "if TYPE_CHECKING:\n    import torch"
TRIED = "try:\n    import torch\nexcept ImportError:\n    torch = None"
ASKED = "import importlib.util\nif importlib.util.find_spec('torch'):\n    import torch"
PLAIN = "def f(x):\n    logger.debug('x')\n    return x\n"
BEFORE = "def f(x):\n    x = torch.relu(x)\n    logger.debug('x')\n    return x\n"
AFTER = "def f(x):\n    logger.debug('x')\n    return torch.relu(x)\n"
OWN = "def f(x):\n    import torch\n    logger.debug('x')\n    return torch.relu(x)\n"
LATE = "def f(x):\n    logger.debug('x')\n    import torch\n    return torch.relu(x)\n"
MODULE = f"class M(torch.nn.Module):\n    pass\n\n\n{PLAIN}"
BRANCH = (
    "def f(x):\n    if x is None:\n        torch.relu(x)\n    logger.debug('x')\n    return x\n"
)
LOST = "import torch\ntorch = logging.getLogger('torch')"
FOUND = "torch = None\nimport torch"
HIDDEN = "import torch\ndef torch(): pass"
CASES = [
    (LOST, PLAIN, False),
    (HIDDEN, PLAIN, False),
    (FOUND, PLAIN, True),
    (ALWAYS, PLAIN, True),
    (ALWAYS, OWN, True),
    (ALWAYS, LATE, False),
    (NEVER, PLAIN, False),
    (NEVER, OWN, True),
    (NEVER, LATE, False),
    (TRIED, PLAIN, False),
    (TRIED, BEFORE, True),
    (TRIED, AFTER, False),
    (TRIED, BRANCH, False),
    (TRIED, MODULE, True),
    (ASKED, PLAIN, False),
    (ASKED, MODULE, True),
]


def fixed(text: str, folder: Path) -> str:
    file = folder / "program.py"
    file.write_text(text, "utf-8")
    changed = fix_files([file], Config(root=folder, compiled=("*:f",))).changed
    return changed[0].after if changed else text


@pytest.mark.parametrize(("imports", "body", "expected"), CASES)
def test_torch_is_named_where_it_has_been_imported(
    imports: str, body: str, expected: bool, tmp_path: Path
) -> None:
    text = HEAD.format(imports=imports) + body
    assert (GUARD in fixed(text, tmp_path)) == expected


@pytest.mark.parametrize(("imports", "body", "_"), CASES)
@pytest.mark.parametrize("present", [True, False])
def test_what_runs_without_torch_still_does(
    imports: str, body: str, _: bool, present: bool, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if present:
        pytest.importorskip("torch")
    else:
        monkeypatch.setitem(sys.modules, "torch", None)
        monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    logger = logging.getLogger("program")
    logger.setLevel(logging.DEBUG)
    text = HEAD.format(imports=imports) + body
    assert outcome(fixed(text, tmp_path), logger) == outcome(text, logger)


def outcome(text: str, logger: logging.Logger) -> tuple[object, ...]:
    """What calling the program's function comes to, and what it logs."""
    told: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
    handler = QueueHandler(told)
    logger.addHandler(handler)
    names: dict[str, Any] = {"__name__": logger.name}
    try:
        exec(text, names)
        result: object = names["f"](None)
    except (ImportError, NameError, TypeError, AttributeError) as error:
        result = type(error)
    finally:
        logger.removeHandler(handler)
    return result, [told.get().message for _ in range(told.qsize())]


READ = "def f(x):\n    y = torch.relu(x)\n    if y.any():\n        y = {call}(y)\n    return y\n"


@pytest.mark.parametrize(
    "imports",
    [
        TRIED,
        "try:\n    import torch\n    HAS_TORCH = True\nexcept ImportError:\n    HAS_TORCH = False",
        "if have():\n    import torch\nelse:\n    torch = None",
        "if not have():\n    torch = None\nelse:\n    import torch",
        "if TYPE_CHECKING:\n    import torch\nelse:\n    torch = lazily('torch')",
        "try:\n    import torch\n    import torch_scatter\nexcept ImportError:\n    torch = None",
        "torch = None\nif have():\n    import torch",
    ],
)
def test_the_name_means_torch_whatever_stands_in_for_it(imports: str, tmp_path: Path) -> None:
    text = HEAD.format(imports=imports) + READ.format(call="g")
    file = tmp_path / "program.py"
    file.write_text(text, "utf-8")
    found = check_files([file], Config(root=tmp_path, compiled=("*:f",))).results
    assert "TCL160" in {result.diagnostic.code for result in found}


@pytest.mark.parametrize(
    ("test", "lines"),
    [
        ("torch is not None", [8]),
        ("torch is None", [10]),
        ("HAS_TORCH", [8]),
        ("torch is not None and not torch.compiler.is_compiling()", [10]),
    ],
)
def test_code_for_the_lack_of_torch_is_not_compiled(
    test: str, lines: list[int], tmp_path: Path
) -> None:
    text = (
        "try:\n    import torch\n    HAS_TORCH = True\nexcept ImportError:\n"
        "    torch, HAS_TORCH = None, False\n"
        f"def f(x):\n    if {test}:\n        print(x)\n    else:\n        print(x)\n    return x\n"
    )
    file = tmp_path / "program.py"
    file.write_text(text, "utf-8")
    found = check_files([file], Config(root=tmp_path, compiled=("*:f",))).results
    assert [result.diagnostic.span.start.row for result in found] == lines
