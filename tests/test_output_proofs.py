"""Torch itself says that no graph breaks where output is under a guard."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config, Settings
from tclint.fix.apply import fix_files
from tclint.lint.rule import PRELUDE

pytest.importorskip("torch", reason="the proofs run torch.compile")

from .proof.run import run_compiled

TWICE = "[(torch.ones(2),), (torch.zeros(2),)]"


def fixed(root: Path, code: str) -> str:
    path = root / "example.py"
    path.write_text(PRELUDE + code)
    config = Config(root, Settings(), select=("TCL12",), compiled=("*:f",))
    (changed,) = fix_files([path], config, unsafe=True).changed
    return changed.after.removeprefix(PRELUDE)


def test_decision_under_the_guard_leaves_no_break(tmp_path: Path) -> None:
    before = """
def f(x: torch.Tensor):
    y = x * 2
    if torch.isnan(y).any():
        if not y.max() < 9:
            logger.warning("bad")
    return y + 1
"""
    after = fixed(tmp_path, before)
    assert "GB0170" in run_compiled(before, TWICE).compilation.gb_ids
    assert run_compiled(after, TWICE).compilation.reasons == []
