"""Breaks that tclint leaves untold, or tells on demand: each with the reason, as a program."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files

from .dynamo import MEASURED, breaks, skip_before

torch = pytest.importorskip("torch")


def told(folder: Path, text: str, scope: str = "compiled", compiled: str = "*:f") -> list[str]:
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    config = Config(root=folder, compiled=(compiled,), settings=MEASURED, scope=scope)
    return sorted({one.diagnostic.code for one in check_files([path], config).results})


COLUMN = """\
import torch

def f(x):
    i = torch.argmax(x, 1)
    return x[:, i[0]] * 2
"""


@pytest.mark.slow
def test_an_index_out_of_a_tensor_of_unknown_rank_may_be_a_row_of_them(tmp_path: Path) -> None:
    """A row of indices is traced, a single one is read: the rank of ``x`` decides."""
    skip_before((2, 13))
    assert breaks(COLUMN, torch.ones(2, 2))
    assert not breaks(COLUMN, torch.zeros(2, 2, 2))
    assert told(tmp_path, COLUMN) == []
    known = COLUMN.replace("torch.argmax(x, 1)", "torch.tensor([1, 0])")
    assert breaks(known, torch.ones(2, 2))
    assert told(tmp_path, known) == ["TCL106"]


COUNTED = """\
from collections import Counter

def f(x):
    return x * Counter([1, 2, 2]).most_common({})[0][0]
"""


def test_the_most_common_of_a_counter_break_only_where_there_are_more(tmp_path: Path) -> None:
    """How many a counter holds is not known, and no model was seen to ask."""
    skip_before((2, 13))
    asked = {"1": True, "2": False, "": False}
    assert {n: breaks(COUNTED.format(n), torch.ones(2)) for n in asked} == asked
    assert [told(tmp_path, COUNTED.format(n)) for n in asked] == [[], [], []]
    assert told(
        tmp_path,
        COUNTED.replace("Counter([1, 2, 2]).most_common({})", "nlargest(1, [])").replace(
            "collections import Counter", "heapq import nlargest"
        ),
    ) == ["TCL180"]


CACHED = """\
from functools import cached_property
from torch import nn

class Net(nn.Module):
    @cached_property
    def factor(self):
        return 3

    def forward(self, x):
        return x * self.factor

f = Net()
"""


def test_a_cached_property_of_a_module_breaks_below_python_3_12(tmp_path: Path) -> None:
    """Until then it takes a lock, which Dynamo does not trace; a project's Python is not known."""
    skip_before((2, 13))
    assert breaks(CACHED, torch.ones(2)) is (sys.version_info < (3, 12))
    assert told(tmp_path, CACHED) == []


ANNOTATED = """\
import torch

def f(batch: dict[str, torch.Tensor]):
    {}
"""


@pytest.mark.parametrize(
    "use",
    [
        'if batch["x"].sum() > 0:\n        return batch["x"]',
        "for x in batch.values():\n        if x.sum() > 0:\n            return x",
        'x = batch.get("x")\n    if x.sum() > 0:\n        return x',
        'if batch.pop("x").sum() > 0:\n        return 1',
    ],
)
def test_members_of_an_annotated_dict_are_what_it_says(tmp_path: Path, use: str) -> None:
    text = ANNOTATED.format(use)
    assert told(tmp_path, text) == ["TCL160"]
    assert breaks(text, {"x": torch.ones(2)})


LIBRARY = """\
import torch

def total_variation(image: torch.Tensor) -> torch.Tensor:
    if image.sum() > 0:
        return image
    return image * 2
"""


def test_an_operation_that_no_model_here_calls_is_told_on_demand(tmp_path: Path) -> None:
    """Who compiles a library's function is elsewhere: ``scope`` and ``compiled`` say so."""
    assert told(tmp_path, LIBRARY) == []
    assert told(tmp_path, LIBRARY, scope="all") == ["TCL160"]
    assert told(tmp_path, LIBRARY, compiled="*:total_variation") == ["TCL160"]
