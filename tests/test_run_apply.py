"""What `tclint run --prove --apply` writes: only what was proved to be the same but for
rounding, and no slower.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tclint.cli.running import apply
from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.run.arms import Arm
from tclint.run.intervals import Interval
from tclint.run.proof import Proof
from tclint.run.scale import BEHAVIOUR, PRECISION, ROUNDING, SAME

SCRIPT = """\
import torch


@torch.compile
def f(x):
    return x * x.max().item()
"""


def proof(script: Path, change: str, after: float) -> Proof:
    fixed = fix_files([script], Config(script.parent), unsafe=True)
    assert fixed.changed
    arms = [Arm((), Interval(value, value * 0.99, value * 1.01), (), 0) for value in (10.0, after)]
    losses = "losses equal" if change == SAME else "losses differ"
    return Proof(fixed, arms[0], arms[1], change, losses)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    return path


def test_a_speedup_is_as_unsure_as_the_rounds_differ(script: Path) -> None:
    one = proof(script, SAME, 5.0)
    rounds = {"before": (10.0, 12.0), "after": (5.0, 4.0)}
    sides = {
        side: replace(getattr(one, side), rounds=tuple(Interval(ms, ms, ms) for ms in times))
        for side, times in rounds.items()
    }
    assert (one.speedup.low, one.speedup.high) == pytest.approx((1.96, 2.04), abs=0.01)
    unsure = replace(one, **sides).speedup
    assert (unsure.low, unsure.value, unsure.high) == pytest.approx((1.96, 2.0, 3.0), abs=0.01)


@pytest.mark.parametrize("change", [SAME, ROUNDING])
@pytest.mark.parametrize("after", [5.0, 10.0])
def test_fixes_that_were_proved_are_written(
    script: Path, change: str, after: float, capsys: pytest.CaptureFixture[str]
) -> None:
    apply(proof(script, change, after))
    assert ".item()" not in script.read_text()
    assert f"wrote {script}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "after", "why"),
    [
        (PRECISION, 5.0, "nothing is written: losses differ"),
        (BEHAVIOUR, 5.0, "nothing is written: losses differ"),
        ("", 5.0, "nothing is written: losses differ"),
        (SAME, 20.0, "nothing is written: a step is slower with the fixes"),
    ],
)
def test_other_fixes_are_not(
    script: Path, change: str, after: float, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    apply(proof(script, change, after))
    assert script.read_text() == SCRIPT
    assert why in capsys.readouterr().err


def test_a_file_that_changed_meanwhile_is_left_as_it_is(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proved = proof(script, SAME, 5.0)
    script.write_text(SCRIPT + "# edited while the command ran\n")
    apply(proved)
    assert "error: " in capsys.readouterr().err
    assert script.read_text().endswith("# edited while the command ran\n")
