"""What decides in front of an assert breaks the graph; the assert's own question does not.

Each program was compiled with Dynamo, too.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files
from tests.dynamo import breaks

HEAD = """\
import numpy as np
import torch


@torch.compile
def f(x: torch.Tensor, flag: bool = False):
    c = 256 * np.sqrt(0.5)
"""
WHOLE = (
    "assert c >= 0",
    "assert c is None or c >= 0",
    "assert flag or c >= 0",
    "assert not flag and c >= 0",
    "assert x.ndim == 1 and (flag or c >= 0)",
    "assert not flag and c >= 0, 'a word'",
)
BROKEN = (
    "assert c >= 0 and x.ndim == 1",
    "assert c >= 0 and c < 1000",
    "assert c < 0 or (flag or c >= 0)",
    "assert 0 <= c < 1000",
    "assert not c < 0",
    "assert flag or not c < 0",
)


@pytest.mark.parametrize("line", [*WHOLE, *BROKEN])
def test_only_what_is_asked_before_the_assert_is_reported(line: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    program = f"{HEAD}    {line}\n    return x * 2\n"
    file = tmp_path / "program.py"
    file.write_text(program)
    run = check_files([file], Config(tmp_path))
    told = bool([one for result in run.results for one in [result.diagnostic] if one.gb_ids])
    assert told is (line in BROKEN)
    assert breaks(program.replace("@torch.compile\n", ""), torch.ones(3)) is (line in BROKEN)
