"""The sample of findings for people to judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.judged import main

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """\
import torch


def before():
    return 1


{uses}
"""


def shown(roots: list[Path], capsys: pytest.CaptureFixture[str], *options: str) -> str:
    arguments = [*map(str, roots), "--select", "TCL420", *options]
    assert main(arguments) == 0
    return capsys.readouterr().out


def package(folder: Path, name: str, count: int) -> Path:
    root = folder / name
    root.mkdir(parents=True)
    uses = "\n".join(f"x{number} = torch.cuda.amp.GradScaler()" for number in range(count))
    (root / "program.py").write_text(PROGRAM.format(uses=uses), encoding="utf-8")
    return root


@pytest.mark.slow
def test_a_seed_draws_the_same_findings_wherever_the_roots_lie(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = [package(tmp_path / "here", name, 6) for name in ("one", "two")]
    there = [package(tmp_path / "there", name, 6) for name in ("one", "two")]
    first = shown(here, capsys, "--sample", "5", "--seed", "3")
    assert shown(list(reversed(there)), capsys, "--sample", "5", "--seed", "3") == first
    assert shown(here, capsys, "--sample", "5", "--seed", "4") != first
    assert first.startswith("# 5 of 12 findings, seed 3\n")
    assert "| TCL420 | 12 | 5 |" in first


def test_each_finding_comes_with_its_lines_and_room_for_a_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown([package(tmp_path, "one", 1)], capsys)
    assert "## 1. TCL420 one/program.py:8:6 (high)" in text
    assert ">     8 x0 = torch.cuda.amp.GradScaler()" in text
    assert "      4 def before():" in text
    assert text.count("Verdict:") == 1


def test_findings_below_the_level_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "one"
    root.mkdir()
    (root / "program.py").write_text("import torch\ntorch._dynamo.reset()\n", encoding="utf-8")
    arguments = [str(root), "--select", "TCL421"]
    assert main(arguments) == 0
    assert "# 0 of 0" in capsys.readouterr().out
    assert main([*arguments, "--confidence", "low"]) == 0
    assert "# 1 of 1" in capsys.readouterr().out


def test_a_stratified_sample_has_something_of_each_code_and_confidence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = package(tmp_path, "one", 30)
    (root / "rare.py").write_text("import torch\ntorch._dynamo.reset()\n", encoding="utf-8")
    options = ("--select", "TCL4", "--confidence", "low", "--sample", "3", "--stratified")
    text = shown([root], capsys, *options)
    assert text == shown([root], capsys, *options)
    assert "| TCL420 | 30 | 2 |" in text
    assert "| TCL421 | 1 | 1 |" in text
