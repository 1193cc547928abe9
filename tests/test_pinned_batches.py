"""Copies of batches in training loops: which ones come from pinned memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files

FILE = """\
import torch
from torch.utils.data import DataLoader

PINNED = DataLoader(range(9), pin_memory=True)
PLAIN = DataLoader(range(9))
MAYBE = DataLoader(range(9), pin_memory=torch.cuda.is_available())


def train(model, optimizer, device, others, tqdm):
    {loop}:
        {copy}
        model(x).sum().backward()
        optimizer.step()
"""
LOOP = "for x, y in PINNED"
COPY = "x = x.to(device)"


def found(root: Path, loop: str = LOOP, copy: str = COPY) -> bool:
    path = root / "train.py"
    path.write_text(FILE.format(loop=loop, copy=copy), encoding="utf-8")
    config = Config(root, select=("TCL334",), weak=True)
    return bool(check_files([path], config).results)


@pytest.mark.parametrize(
    ("loop", "pinned"),
    [
        (LOOP, True),
        ("for i, (x, y) in enumerate(PINNED)", True),
        ("for i, x in enumerate(tqdm(PINNED))", True),
        ("for x in DataLoader(others, pin_memory=True)", True),
        ("for x in PLAIN", False),
        ("for x in MAYBE", False),
        ("for x in others", False),
        ("for x in zip(PINNED, others)", False),
        ("for y in PINNED", False),
        ("while others", False),
    ],
)
def test_the_loader_has_to_pin(tmp_path: Path, loop: str, pinned: bool) -> None:
    assert found(tmp_path, loop=loop) is pinned


@pytest.mark.parametrize(
    ("copy", "waits"),
    [
        (COPY, True),
        ("x, y = x.to(self.device), y.to(self.device)", True),
        ('x = x.to("cuda:0")', True),
        ("x = x.to(device=device)", True),
        ("model(x.cuda())", True),
        ("x = x.cuda(non_blocking=True)", False),
        ("x = x.to(device, non_blocking=others)", False),
        ("x = x.to(device, torch.float16)", False),
        ("x = x.to(device, **others)", False),
        ("x = x.to(torch.float16)", False),
        ('x = x.to("cpu")', False),
        ("others = others.to(device)", False),
        ("x = model(x); x = x.to(device)", False),
    ],
)
def test_the_copy_has_to_wait(tmp_path: Path, copy: str, waits: bool) -> None:
    assert found(tmp_path, copy=copy) is waits
