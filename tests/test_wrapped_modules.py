"""Modules that are compiled and wrapped by DDP or FSDP: which wrapper belongs to which call."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files

FILE = """\
import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.parallel import DistributedDataParallel as DDP


def make(model, first, options):
{body}
    return model
"""


def codes(root: Path, body: str) -> list[str]:
    path = root / "program.py"
    lines = "\n".join(f"    {line}" for line in body.split("|"))
    path.write_text(FILE.format(body=lines), encoding="utf-8")
    config = Config(root, select=("TCL415", "TCL514"), weak=True)
    return [result.diagnostic.code for result in check_files([path], config).results]


@pytest.mark.parametrize(
    "body",
    [
        "model = torch.compile(FSDP(model))",
        "model = FSDP(torch.compile(model), use_orig_params=False)",
        "model = FSDP(model)|model = torch.compile(model)",
        "model = FSDP(model)|print(model)|model = torch.compile(model)",
        "model = torch.compile(model)|model = FSDP(model)",
        "if first:|    model = FSDP(model)|    model = torch.compile(model)",
        "model = torch.compile(FSDP(model, **{'use_orig_params': False}))",
        "cfg = {'use_orig_params': False}|model = FSDP(model, **cfg)|model = torch.compile(model)",
        "cfg = dict(device_id=0)|model = FSDP(model, **cfg)|model = torch.compile(model)",
    ],
)
def test_flat_parameters_are_found_in_either_order(tmp_path: Path, body: str) -> None:
    assert codes(tmp_path, body) == ["TCL514"]


@pytest.mark.parametrize(
    "body",
    [
        "model = torch.compile(FSDP(model, use_orig_params=True))",
        "model = torch.compile(FSDP(model, use_orig_params=first))",
        "model = torch.compile(FSDP(model, **options))",
        "model = torch.compile(FSDP(model, **{'use_orig_params': True}))",
        "cfg = dict(use_orig_params=True)|model = torch.compile(FSDP(model, **cfg))",
        "cfg = {}|cfg['use_orig_params'] = True|model = torch.compile(FSDP(model, **cfg))",
        "cfg = {}|cfg.update(options)|model = torch.compile(FSDP(model, **cfg))",
        "cfg = {}|other = cfg|other.update(options)|model = torch.compile(FSDP(model, **cfg))",
        "cfg = dict(**options)|model = torch.compile(FSDP(model, **cfg))",
        "cfg = {**options}|model = torch.compile(FSDP(model, **cfg))",
        "if first:|    cfg = {}|else:|    cfg = options|model = torch.compile(FSDP(model, **cfg))",
        "model = torch.compile(FSDP(model, None, None))",
        "model = FSDP(model)|if first:|    model = model.module|model = torch.compile(model)",
        "wrapped = FSDP(model)|model = torch.compile(model)",
        "model = torch.compile(model)|model = first(model)|model = FSDP(model)",
        "model = torch.compile(DDP(model))",
        "model = FSDP(model)",
    ],
)
def test_other_parameters_are_left_alone(tmp_path: Path, body: str) -> None:
    assert codes(tmp_path, body) == []


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("model = torch.compile(DDP(model), fullgraph=True)", True),
        (
            "model = DDP(model, static_graph=True)|model = torch.compile(model, fullgraph=True)",
            True,
        ),
        ("model = DDP(torch.compile(model, fullgraph=True))", False),
        ("model = torch.compile(DDP(model), fullgraph=first)", False),
        ("model = torch.compile(DDP(model))", False),
    ],
)
def test_a_wrapper_is_not_one_graph(tmp_path: Path, body: str, found: bool) -> None:
    assert codes(tmp_path, body) == ["TCL415"] * found


def test_the_reducer_in_python_is_one_graph(tmp_path: Path) -> None:
    reducer = 'torch._dynamo.config.optimize_ddp = "python_reducer"'
    assert codes(tmp_path, f"{reducer}|model = torch.compile(DDP(model), fullgraph=True)") == []
