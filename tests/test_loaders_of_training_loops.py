"""Which loaders make a training loop wait: those without pinned memory, and without workers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files

TRAIN = """\
import torch
from torch.utils.data import DataLoader


def train(model, optimizer, {data}, device, **options):
    loader = DataLoader({data}, {given})
    for i, (x, y) in enumerate(loader):
        {copied}
        loss = model(x, y)
        loss.backward()
        optimizer.step()
"""
COPIED = "x = x.to(device); y = y.to(device)"


def codes(tmp_path: Path, given: str, copied: str = COPIED, data: str = "images") -> list[str]:
    path = tmp_path / "train.py"
    path.write_text(TRAIN.format(given=given, copied=copied, data=data), encoding="utf-8")
    run = check_files([path], Config(tmp_path, select=("TCL336", "TCL337")))
    return sorted(result.diagnostic.code for result in run.results)


@pytest.mark.parametrize(
    "given", ["batch_size=4", "num_workers=0", "pin_memory=False", "shuffle=True"]
)
def test_a_loader_without_both_is_told_twice(given: str, tmp_path: Path) -> None:
    assert codes(tmp_path, given) == ["TCL336", "TCL337"]


WELL = "num_workers=4, pin_memory=True"


@pytest.mark.parametrize("given", [WELL, "**options", "num_workers=n, pin_memory=pinned"])
def test_what_may_be_given_is_not_missed(given: str, tmp_path: Path) -> None:
    assert codes(tmp_path, given) == []


def test_each_half_is_told_alone(tmp_path: Path) -> None:
    assert codes(tmp_path, "num_workers=4") == ["TCL336"]
    assert codes(tmp_path, "pin_memory=True") == ["TCL337"]


@pytest.mark.parametrize(
    "copied",
    ["pass", "x = x.half(); x = x.to(device)", "kept = model.weight.to(device)", "x = x[0]"],
)
def test_without_a_copy_of_the_batch_nothing_need_be_pinned(copied: str, tmp_path: Path) -> None:
    assert codes(tmp_path, "num_workers=4", copied) == []


@pytest.mark.parametrize(("data", "confidence"), [("images", "medium"), ("tokens", "low")])
def test_only_what_is_large_is_told_with_confidence(
    data: str, confidence: str, tmp_path: Path
) -> None:
    path = tmp_path / "train.py"
    path.write_text(TRAIN.format(given="shuffle=True", copied=COPIED, data=data), encoding="utf-8")
    run = check_files([path], Config(tmp_path, select=("TCL336", "TCL337")))
    assert [result.diagnostic.confidence.value for result in run.results] == [confidence] * 2


def test_what_torch_made_is_in_memory_already(tmp_path: Path) -> None:
    made = "import torch\nimages = torch.zeros(8, 3)\n"
    source = TRAIN.format(given="pin_memory=True", copied="pass", data="images")
    path = tmp_path / "train.py"
    path.write_text(made + source.replace("images, device", "device"), encoding="utf-8")
    run = check_files([path], Config(tmp_path, select=("TCL337",)))
    assert not run.results
