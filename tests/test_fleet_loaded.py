"""What a target loads while its factory runs is code of its, as the models of catalogues are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.fleet.config import Measures
from tclint.fleet.measure import measure
from tclint.fleet.units import Unit

pytest.importorskip("torch", reason="the targets run")

MODEL = """
from torch import nn

class Printing(nn.Module):
    def forward(self, x):
        y = x * 2
        print("seen")
        return y + 1
"""
FACTORY = """
def make():
    import torch
    from late.model import Printing
    return Printing(), (torch.ones(2, 4),), {}
"""


@pytest.mark.slow(20)
def test_what_a_factory_imports_is_fixed_and_its_digest_is_kept(
    tmp_path: Path, copied_children: None
) -> None:
    (tmp_path / "late").mkdir()
    (tmp_path / "late/model.py").write_text(MODEL)
    (tmp_path / "m.py").write_text(FACTORY)
    unit = Unit("", "m", "fixed", "m.py:make", str(tmp_path), Measures(), fixed=True)
    measured = measure(unit)
    assert (measured.outcome, measured.breaks_before, measured.fixes) == ("whole", 1, ("TCL120",))
    assert [file.path for file in measured.code] == ["late/model.py", "m.py"]
    assert all(file.digest for file in measured.code)
