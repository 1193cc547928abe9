"""A read in an inner module is done by its caller: fewer graphs, the same results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.lint.engine import check_files

torch = pytest.importorskip("torch", reason="the proofs run torch")

if TYPE_CHECKING:
    from pathlib import Path

CODE = """\
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(
        self,
        hidden,
        mask=None,
        scale=1.0,
    ):
        masked = mask > 0
        # any of them
        any_masked = masked.flatten().any().item()
        hidden = self.linear(hidden) * scale
        return hidden.masked_fill(masked, 0.0) if any_masked else hidden


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()

    def forward(self, x, mask):
        negative = -mask
        y = self.encoder(
            x,
            mask=negative,
        )
        return y + 1
"""
FIXED = """\
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(
        self,
        hidden,
        mask=None,
        scale=1.0,
        any_masked=None,
    ):
        masked = mask > 0
        # any of them
        if any_masked is None:
            any_masked = masked.flatten().any().item()
        hidden = self.linear(hidden) * scale
        return hidden.masked_fill(masked, 0.0) if any_masked else hidden


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()

    def forward(self, x, mask):
        negative = -mask
        any_masked = (negative > 0).flatten().any().item()
        y = self.encoder(
            x,
            mask=negative,
            any_masked=any_masked,
        )
        return y + 1
"""


def test_the_caller_reads(tmp_path: Path) -> None:
    assert _fixed(tmp_path, CODE) == FIXED
    assert _fixed(tmp_path, FIXED) == FIXED


@pytest.mark.parametrize("sign", [1, -1])
def test_fewer_graphs_and_the_same_results(sign: int, tmp_path: Path) -> None:
    (before, graphs), (after, fewer) = (_run(code, sign) for code in (CODE, FIXED))
    assert fewer < graphs
    assert torch.equal(before, after)


def test_who_calls_the_inner_module_alone_need_not_know() -> None:
    names: dict[str, Any] = {}
    exec(FIXED, names)
    encoder, x = names["Encoder"](), torch.ones(2, 3)
    assert torch.equal(encoder(x, x), torch.zeros(2, 3))


def test_a_safe_fix_leaves_the_signature_of_a_module(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(CODE, encoding="utf-8")
    config = Config(root=tmp_path, select=("TCL101",))
    assert not fix_files([path], config).changed
    (found,) = check_files([path], config).results
    assert found.repair is not None
    assert "has to take it too" in found.repair.changes


def _fixed(folder: Path, code: str) -> str:
    path = folder / "model.py"
    path.write_text(code, encoding="utf-8")
    run = fix_files([path], Config(root=folder, select=("TCL101",)), unsafe=True)
    return run.changed[0].after if run.changed else code


def _run(code: str, sign: int) -> tuple[torch.Tensor, int]:
    graphs: list[object] = []

    def backend(graph: Any, _: object) -> Any:
        graphs.append(graph)
        return graph.forward

    names: dict[str, Any] = {}
    exec(code, names)
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = torch.compile(names["Model"](), backend=backend)
    return model(torch.ones(2, 3), sign * torch.ones(2, 3)).detach(), len(graphs)
