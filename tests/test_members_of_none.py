"""What has had a method called is not None: an exception would have been raised. Compiled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files

PROGRAM = """\
from typing import Optional

import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: Optional[torch.Tensor]):
        BODY
        return x


net = Net()
"""
BODIES = {
    "y.add_(1)\nif y is None:\n    print('none')": False,
    "z = y.sum()\nif y is None:\n    print('none')\nx = x + z": False,
    "if y is None:\n    print('none')": True,
    "if x.shape[0] > 9:\n    y.add_(1)\nif y is None:\n    print('none')": True,
    "y.add_(1)\ny = None if x.shape[0] < 9 else y\nif y is None:\n    print('none')": True,
}


@pytest.mark.parametrize("body", BODIES)
def test_a_branch_for_none_behind_a_call_of_a_method_is_never_taken(
    body: str, tmp_path: Path
) -> None:
    torch = pytest.importorskip("torch")
    from torch._dynamo.utils import counters

    path = tmp_path / "program.py"
    text = PROGRAM.replace("BODY", body.replace("\n", "\n        "))
    path.write_text(text, encoding="utf-8")
    results = check_files([path], Config(tmp_path)).results
    assert bool([one for one in results if one.diagnostic.code == "TCL120"]) is BODIES[body]
    made: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), made)
    torch._dynamo.reset()
    counters.clear()
    given = torch.ones(3) if "y." in body.partition("\n")[0] else None
    torch.compile(made["net"], backend="eager")(torch.ones(3), given)
    assert bool(counters["graph_break"]) is BODIES[body]
