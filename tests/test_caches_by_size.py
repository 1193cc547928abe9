"""A dict with an entry for each size recompiles where Dynamo traces what makes the entries."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.diagnostics import Confidence
from tclint.lint.engine import check_files

LIBRARY = "import time\n\n\ndef build(n):\n    return time.time()\n"
LIBRARY += "\n\ndef double(n):\n    return 2 * n\n"
PROGRAM = """\
import torch
import library_of_kernels as library

CACHE = {}


def kernel(n):
    made = CACHE.get(n)
    if made is None:
        MAKE
        CACHE[n] = made
    return made


@torch.compile(backend="eager")
def f(x: torch.Tensor):
    kernel(x.shape[0])
    return x * 2
"""
MAKES = {
    "made = torch.arange(n)": ["TCL223"],
    "made = library.build(n)": [],
    "kernels = library.build(n); made = kernels.hex() if n > 4 else kernels.hex()": [],
    "class made:\n            pass\n": [],
}
UNSURE = {"made = library.build(n)": False, "made = library.double(n)": True}


def recompiles(folder: Path) -> bool:
    """Whether the eighth size makes Dynamo translate something again."""
    torch = pytest.importorskip("torch")
    from torch._dynamo.utils import counters

    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    torch._dynamo.reset()
    counters.clear()
    try:
        program = importlib.import_module("program_of_kernels")
        seen = []
        for size in range(3, 11):
            program.f(torch.ones(size))
            seen.append(counters["frames"]["total"])
    finally:
        sys.path.remove(str(folder))
        for name in ("program_of_kernels", "library_of_kernels"):
            sys.modules.pop(name, None)
    return seen[-1] > seen[-2]


@pytest.mark.parametrize("make", MAKES)
def test_a_cache_recompiles_for_what_is_traced(make: str, tmp_path: Path) -> None:
    program = tmp_path / "program_of_kernels.py"
    program.write_text(PROGRAM.replace("MAKE", make), encoding="utf-8")
    (tmp_path / "library_of_kernels.py").write_text(LIBRARY, encoding="utf-8")
    results = check_files([program], Config(root=tmp_path, select=("TCL223",))).results
    sure = [one.diagnostic for one in results if one.diagnostic.confidence is not Confidence.LOW]
    assert [one.code for one in sure] == MAKES[make]
    assert recompiles(tmp_path) == bool(MAKES[make])


@pytest.mark.parametrize("make", UNSURE)
def test_what_a_library_makes_is_told_with_low_confidence(make: str, tmp_path: Path) -> None:
    program = tmp_path / "program_of_kernels.py"
    program.write_text(PROGRAM.replace("MAKE", make), encoding="utf-8")
    config = Config(root=tmp_path, select=("TCL223",), weak=True)
    (found,) = check_files([program], config).results
    assert found.diagnostic.confidence is Confidence.LOW
    (tmp_path / "library_of_kernels.py").write_text(LIBRARY, encoding="utf-8")
    assert recompiles(tmp_path) is UNSURE[make]
