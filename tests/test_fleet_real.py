"""A fleet with real torch: targets that are well, that break, and that are bad in every way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tclint.fleet.store import UnitRow, open_store

MODELS = """
import os
import torch
from torch import nn

class Whole(nn.Module):
    def forward(self, x):
        return x.relu()

class Printing(nn.Module):
    def forward(self, x):
        y = x * 2
        print("a line where answers go", flush=True)
        return y + 1

def make_whole(): return Whole(), (torch.ones(2, 4),), {}
def make_printing(): return Printing(), (torch.ones(2, 4),), {}
def make_crash(): os.abort()
def make_missing():
    import no_such_package

MODELS = {"a": make_whole}
"""
FLEET = """
[fleet]
export = true
jobs = 2
[[arm]]
name = "fixed"
fixed = true
[[target]]
factories = "models.py:make_[cm]*"
[[target]]
factory = "models.py:make_printing"
[[target]]
registry = "models.py:MODELS"
"""


@pytest.mark.slow(40)
def test_every_target_is_a_row_and_the_rest_goes_on(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(MODELS)
    (tmp_path / "FLEET.toml").write_text(FLEET)

    def run() -> str:
        done = subprocess.run(
            [sys.executable, "-m", "tclint", "fleet", "run", "FLEET.toml"],
            cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stderr.splitlines()[-1]

    assert run().endswith("4 measured, 0 known before")
    assert run().endswith("0 measured, 4 known before")
    with open_store(tmp_path / "fleet.sqlite") as store:
        rows = {unit.target: unit for unit in store.units(2)}
    assert summary(rows["a"]) == ("whole", "", "identical", 0, "")
    fixed = rows["models.py:make_printing"].measured
    assert fixed is not None
    assert (fixed.outcome, fixed.verdict, fixed.breaks_before) == ("whole", "identical", 1)
    assert fixed.fixes == ("TCL120",)
    assert reason(rows["models.py:make_crash"])[0] == "crash"
    kind, said = reason(rows["models.py:make_missing"])
    assert kind == "missing"
    assert "No module named 'no_such_package' (models.py:" in said


def summary(unit: UnitRow) -> tuple[str, str, str, int, str | None]:
    one = unit.measured
    assert one is not None
    return one.outcome, one.failure, one.verdict, len(one.breaks), one.exported


def reason(unit: UnitRow) -> tuple[str, str]:
    assert unit.measured is not None
    return unit.measured.failure, unit.measured.reason
