"""A counter that became a buffer: checkpoints, copies and pickles stay what they were."""

from __future__ import annotations

import copy
import importlib.util
import pickle
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files

torch = pytest.importorskip("torch", reason="modules are torch's")

if TYPE_CHECKING:
    from pathlib import Path

CODE = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.step = 0

    def forward(self, x):
        self.step += 1
        return self.linear(x) / self.step
"""


@pytest.fixture
def nets(tmp_path: Path) -> tuple[Any, Any]:
    """The module before and after the fix, with the same parameters, called three times."""
    path = tmp_path / "counting.py"
    path.write_text(CODE, encoding="utf-8")
    config = Config(root=tmp_path, select=("TCL220",), compiled=("*:Net.forward",))
    (fixed,) = fix_files([path], config, unsafe=True).changed
    assert "register_buffer" in fixed.after
    made = []
    for name, text in (("counting_before", CODE), ("counting_after", fixed.after)):
        source = tmp_path / f"{name}.py"
        source.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, source)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        torch.manual_seed(0)
        net = module.Net()
        for _ in range(3):
            net(torch.ones(2, 3))
        made.append(net)
    return made[0], made[1]


def test_results_and_counts_are_equal(nets: tuple[Any, Any]) -> None:
    before, after = nets
    assert before.step == int(after.step) == 3
    x = torch.rand(4, 3)
    assert torch.equal(before(x), after(x))


def test_checkpoints_are_exchangeable(nets: tuple[Any, Any]) -> None:
    before, after = nets
    assert list(before.state_dict()) == list(after.state_dict())
    after.load_state_dict(before.state_dict(), strict=True)
    before.load_state_dict(after.state_dict(), strict=True)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_copies_go_on_counting(nets: tuple[Any, Any], again: Any) -> None:
    for net in nets:
        copied = again(net)
        copied(torch.ones(2, 3))
        assert (int(net.step), int(copied.step)) == (3, 4)


def test_half_precision_leaves_the_count_whole(nets: tuple[Any, Any]) -> None:
    _, after = nets
    assert after.half().step.dtype == torch.int64
