"""What the fix for a deep model compiled whole would make of the call."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tclint.config import Config, Settings
from tclint.diagnostics import Applicability, Decline
from tclint.fix.conflicts import apply_edits
from tclint.fix.edits import edits_for
from tclint.lint.engine import Result, check_files

MODEL = """\
import torch
from torch import nn


class Block(nn.Module):
    def forward(self, x):
        return torch.relu(x)


class Net(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(depth)])


def make():
    model = Net(32)
"""
LOOP = "    for block in model.blocks:\n        block.compile({})\n"


def _shown(tmp_path: Path, tail: str, minimum: int = 16) -> list[str | Decline | None]:
    """What each finding's fix would make of the code, or why there is none."""
    path = tmp_path / "code.py"
    path.write_text(MODEL + tail, encoding="utf-8")
    options = (("TCL410", "minimum-blocks", minimum),)
    config = Config(tmp_path, select=("TCL410",), settings=Settings(options=options))
    return [_after(result) for result in check_files([path], config).results]


def _after(result: Result) -> str | Decline | None:
    if result.repair is None:
        return result.diagnostic.declined
    assert result.repair.applicability is Applicability.DISPLAY
    edits = edits_for(result.file, ast.parse(result.file.text), result.repair)
    assert not isinstance(edits, Decline)
    return apply_edits(result.file, edits).removeprefix(MODEL)


CALLS = {
    "rebound": (
        '    model = torch.compile(model, mode="max-autotune")\n    return model\n',
        LOOP.format('mode="max-autotune"') + "    return model\n",
    ),
    "another name": (
        "    fast = torch.compile(model)\n    return fast\n",
        LOOP.format("") + "    fast = model\n    return fast\n",
    ),
    "returned": (
        "    return torch.compile(model, dynamic=False)\n",
        LOOP.format("dynamic=False") + "    return model\n",
    ),
    "by keyword": (
        "    return torch.compile(model=model, dynamic=False)\n",
        LOOP.format("dynamic=False") + "    return model\n",
    ),
    "in place": (
        "    model.compile(fullgraph=True)\n    return model\n",
        LOOP.format("fullgraph=True") + "    return model\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), CALLS.values(), ids=CALLS)
def test_shown(tmp_path: Path, before: str, after: str) -> None:
    assert _shown(tmp_path, before) == [after]


DECLINED = {
    "no name": ("    return torch.compile(Net(32))\n", "no name"),
    "part of more": ("    return [torch.compile(model)]\n", "larger expression"),
    "a name that is taken": ("    block = 1\n    return torch.compile(model), block\n", "`block`"),
}


@pytest.mark.parametrize(("tail", "reason"), DECLINED.values(), ids=DECLINED)
def test_declined(tmp_path: Path, tail: str, reason: str) -> None:
    (decline,) = _shown(tmp_path, tail)
    assert isinstance(decline, Decline)
    assert reason in decline.reason


@pytest.mark.parametrize(("minimum", "found"), [(32, 1), (33, 0)])
def test_how_deep_a_model_must_be_is_configured(tmp_path: Path, minimum: int, found: int) -> None:
    assert len(_shown(tmp_path, "    return torch.compile(model)\n", minimum)) == found
