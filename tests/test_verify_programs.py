"""The example programs: the places listed for them, and what happens when they are compiled."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.verify.arms import Options, Side
from tclint.verify.compare import verify_sides
from tclint.verify.results import Arm, TargetReport
from tclint.verify.session import exit_code

pytestmark = pytest.mark.usefixtures("copied_children")

PROGRAMS = Path(__file__).parents[1] / "fixtures" / "programs"
EXPECTED = json.loads((PROGRAMS / "expected.json").read_text())

BREAKS = {
    "all_reduce.py": [19, 21],
    "conv_net.py": [22, 28, 34, 39],
    "deep_stack.py": [],
    "distillation.py": [],
    "optimizer_step.py": [],
    "vision_transformer.py": [],
    "weighted_loss.py": [],
}
BY_HAND = (
    (".sum().item()", ".sum().detach()"),
    (".mean().item()", ".mean().detach()"),
    ("np.arange(", "range("),
    (
        '        print("pooled"',
        '        if not torch.compiler.is_compiling():\n            print("pooled"',
    ),
)


def user_breaks(arm: Arm) -> list[int]:
    assert arm.probe is not None
    return sorted(one.row for one in arm.probe.breaks if not one.by_torch)


def verify(*sides: Side) -> TargetReport:
    pytest.importorskip("torch")
    return verify_sides("program", sides, Options("eager", speed=False, device="cpu"))


def test_every_program_has_its_places_listed() -> None:
    assert set(EXPECTED) == {path.name for path in PROGRAMS.glob("*.py")}


@pytest.mark.parametrize("name", EXPECTED)
def test_listed_places_hold_code(name: str) -> None:
    lines = (PROGRAMS / name).read_text().splitlines()
    for entry in EXPECTED[name]:
        line = lines[entry["row"] - 1]
        assert line[entry["column"] - 1 :].strip()
        assert not line[: entry["column"] - 1].endswith(tuple("abcdefghijklmnopqrstuvwxyz_."))


@pytest.mark.slow
@pytest.mark.parametrize("name", BREAKS)
def test_a_program_breaks_where_it_is_known_to(name: str) -> None:
    report = verify(Side("after", f"{name}:make", PROGRAMS))
    assert user_breaks(report.after) == BREAKS[name]
    assert report.equality.equal is True


@pytest.mark.slow
def test_the_wrong_configuration_cannot_run() -> None:
    report = verify(Side("after", "train_config.py:make", PROGRAMS))
    assert exit_code([report]) == 2
    assert report.after.failure is not None
    assert "max-performance" in report.after.failure.message


@pytest.mark.slow
def test_the_wrong_configuration_runs_once_it_is_fixed(tmp_path: Path) -> None:
    path = Path(shutil.copy(PROGRAMS / "train_config.py", tmp_path))
    [fixed] = fix_files([path], Config(tmp_path), unsafe=True).changed
    path.write_text(fixed.after)
    report = verify(Side("after", "train_config.py:make", tmp_path))
    assert user_breaks(report.after) == []
    assert report.equality.equal is True


@pytest.mark.slow
def test_the_conv_net_rewritten_by_hand_is_whole_and_bit_equal(tmp_path: Path) -> None:
    shutil.copy(PROGRAMS / "conv_net.py", tmp_path)
    text = (tmp_path / "conv_net.py").read_text()
    for old, new in BY_HAND:
        text = text.replace(old, new)
    (tmp_path / "conv_net.py").write_text(text)
    report = verify(
        Side("before", "conv_net.py:make", PROGRAMS), Side("after", "conv_net.py:make", tmp_path)
    )
    assert user_breaks(report.after) == []
    assert report.equality.verdict == "identical"


@pytest.mark.slow(20)
def test_the_script_of_habits_trains_the_same_with_its_fixes(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    path = Path(shutil.copy(PROGRAMS / "train_script.py", tmp_path))
    config = Config(tmp_path, weak=True)
    [fixed] = fix_files([path], config, unsafe=True).changed
    path.write_text(fixed.after)
    sides = [
        Side(name, "train_script.py:make", root)
        for name, root in (("before", PROGRAMS), ("after", tmp_path))
    ]
    options = Options("eager", phase="step", speed=False, device="cpu")
    report = verify_sides("train_script.py:make", sides, options)
    assert report.after.failure is None
    assert len(fixed.fixes) >= 8
    assert report.equality.equal is True
