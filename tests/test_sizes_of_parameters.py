"""A parameter's sizes are constants to Dynamo; those of inputs and of what calls pass are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files

HEAD = """\
import numpy as np
import torch


def scale(x, w):
    out, into = w.shape
    return x / np.sqrt(out * into)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(4, 3))

    def forward(self, x: torch.Tensor):
"""
FIXED = (
    "return scale(x, self.w)",
    "return x / np.sqrt(self.w.shape[0] * self.w.shape[1])",
    "return x / np.sqrt(self.w.size(0) * self.w.size()[1])",
    "return x / np.sqrt(self.w.numel())",
)
VARYING = (
    "return scale(x, x)",
    "return x / np.sqrt(x.shape[0] * x.shape[1])",
    "return x / np.sqrt(x.numel())",
    "return scale(x, self.w) + scale(x, x)",
)


@pytest.mark.parametrize("line", [*FIXED, *VARYING])
def test_sizes_of_parameters_do_not_recompile(line: str, tmp_path: Path) -> None:
    program = f"{HEAD}        {line}\n"
    file = tmp_path / "program.py"
    file.write_text(program)
    run = check_files([file], Config(tmp_path))
    told = "TCL226" in {result.diagnostic.code for result in run.results}
    assert told is (line in VARYING)
    assert (_compiles(program) > 2) is (line in VARYING)


def _compiles(program: str) -> int:
    """How often calls with three numbers of rows compile."""
    torch = pytest.importorskip("torch")
    from torch._dynamo.testing import CompileCounter

    space: dict[str, type] = {}
    exec(program, space)
    torch._dynamo.reset()
    counter = CompileCounter()
    compiled = torch.compile(space["Net"](), backend=counter)
    for rows in (2, 4, 5):
        compiled(torch.ones(rows, 3))
    torch._dynamo.reset()
    return counter.frame_count
