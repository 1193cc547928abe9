"""A fleet with real torch: targets that are well, that break, and that are bad in every way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tclint.fleet.measure import measure
from tclint.fleet.store import UnitRow, open_store
from tests import fleet_help

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
"""
SPAWNED = """
[[target]]
factory = "models.py:make_crash"
[[target]]
registry = "models.py:MODELS"
"""
COPIED = """
[[target]]
factories = "models.py:make_[mp]*"
"""


@pytest.mark.slow(40)
def test_every_target_is_a_row_and_the_rest_goes_on(tmp_path: Path) -> None:
    file = write(tmp_path, SPAWNED)

    def run() -> str:
        done = subprocess.run(
            [sys.executable, "-m", "tclint", "fleet", "run", file.name],
            cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stderr.splitlines()[-1]

    assert run().endswith("2 measured, 0 known before")
    assert run().endswith("0 measured, 2 known before")
    rows = rows_of(tmp_path, run=2)
    assert summary(rows["a"]) == ("whole", "", "identical", 0, "")
    assert reason(rows["models.py:make_crash"])[0] == "crash"


@pytest.mark.slow(10)
def test_what_is_fixed_and_what_is_missing_are_told(tmp_path: Path, copied_children: None) -> None:
    ran, _ = fleet_help.run(write(tmp_path, COPIED), measure)
    assert (ran.measured, ran.known) == (2, 0)
    rows = rows_of(tmp_path, run=1)
    fixed = rows["models.py:make_printing"].measured
    assert fixed is not None
    assert (fixed.outcome, fixed.verdict, fixed.breaks_before) == ("whole", "identical", 1)
    assert fixed.fixes == ("TCL120",)
    kind, said = reason(rows["models.py:make_missing"])
    assert kind == "missing"
    assert "No module named 'no_such_package' (models.py:" in said


def write(folder: Path, targets: str) -> Path:
    (folder / "models.py").write_text(MODELS)
    file = folder / "FLEET.toml"
    file.write_text(FLEET + targets)
    return file


def rows_of(folder: Path, *, run: int) -> dict[str, UnitRow]:
    with open_store(folder / "fleet.sqlite") as store:
        return {unit.target: unit for unit in store.units(run)}


def summary(unit: UnitRow) -> tuple[str, str, str, int, str | None]:
    one = unit.measured
    assert one is not None
    return one.outcome, one.failure, one.verdict, len(one.breaks), one.exported


def reason(unit: UnitRow) -> tuple[str, str]:
    assert unit.measured is not None
    return unit.measured.failure, unit.measured.reason
