"""The ways in which people build a deep model of equal blocks, and those that only look like it."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files
from tests.test_plain_objects import programs

HEAD = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width=8, rate=0.0):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x)


class Net(nn.Module):
"""
DEEP = programs("""
# a comprehension
depth=24
---
self.blocks = nn.ModuleList([Block() for _ in range(depth)])

# a sequence
depth=24
---
self.blocks = nn.Sequential(*[Block() for _ in range(depth)])

# appended
depth=24
---
self.blocks = nn.ModuleList()
for _ in range(depth):
    self.blocks.append(Block())
""")
OTHERS = programs("""
# few
depth=6
---
self.blocks = nn.ModuleList([Block() for _ in range(depth)])

# each with its index
depth=24
---
self.blocks = nn.ModuleList([Block(8, i / depth) for i in range(depth)])

# each with its index, appended
depth=24
---
self.blocks = nn.ModuleList()
for i in range(depth):
    self.blocks.append(Block(8, i / depth))

# widths that grow
depth=24
---
self.blocks = nn.ModuleList()
width = 8
for _ in range(depth):
    self.blocks.append(Block(width))
    width = width + 8

# branches that differ
depth=24, wide=False
---
if wide:
    self.blocks = nn.ModuleList([Block(8) for _ in range(depth)])
else:
    self.blocks = nn.ModuleList([Block(8) for _ in range(4)])

# only if asked for
depth=24, deep=False
---
self.blocks = nn.ModuleList()
if deep:
    for _ in range(depth):
        self.blocks.append(Block())

# replaced
depth=24
---
self.blocks = nn.ModuleList([Block() for _ in range(depth)])
self.blocks = nn.ModuleList([Block()])

# as many as nobody knows
names=None
---
self.blocks = nn.ModuleList()
for name in names or ():
    self.blocks.append(Block())

# blocks of different widths
depth=10
---
self.blocks = nn.ModuleList()
for _ in range(depth):
    self.blocks.append(Block(8))
for _ in range(depth):
    self.blocks.append(Block(16))
""")


def is_told(folder: Path, parameters: str, body: str) -> bool:
    """Whether a compiled model whose ``__init__`` has this body counts as deep."""
    made = indent(f"super().__init__()\n{body}\n", " " * 8)
    text = f"{HEAD}    def __init__(self, {parameters.strip()}):\n{made}\n"
    text += "    def forward(self, x):\n        return x\n\n\nnet = torch.compile(Net())\n"
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    results = check_files([path], Config(root=folder, select=("TCL410",))).results
    return bool(results)


@pytest.mark.parametrize(("parameters", "body"), DEEP.values(), ids=DEEP.keys())
def test_a_deep_model_is_told_however_it_is_built(
    tmp_path: Path, parameters: str, body: str
) -> None:
    assert is_told(tmp_path, parameters, body)


@pytest.mark.parametrize(("parameters", "body"), OTHERS.values(), ids=OTHERS.keys())
def test_a_model_that_is_not_deep_or_not_alike_is_silent(
    tmp_path: Path, parameters: str, body: str
) -> None:
    assert not is_told(tmp_path, parameters, body)
