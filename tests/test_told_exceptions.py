"""A handler that tells of its exception is for what went wrong: no ordinary call gets there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tclint.config import Config
from tclint.diagnostics import Confidence
from tclint.lint.engine import check_files

PROGRAM = """\
import logging
import warnings

import torch

logger = logging.getLogger(__name__)


def call(x, cache):
    try:
        y = x * cache["a"]
    except KeyError as error:
        BODY
    return y + 1
"""
BODIES = {
    "logger.warning(f'no: {error}')": Confidence.LOW,
    "print(error)": Confidence.LOW,
    "warnings.warn(str(error))": Confidence.LOW,
    "y = x * x.sum().item()": Confidence.HIGH,
}


@pytest.mark.parametrize("body", BODIES)
def test_what_a_handler_tells_of_is_no_ordinary_way(body: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from torch._dynamo.utils import counters

    path = tmp_path / "program.py"
    text = PROGRAM.replace("BODY", body if body.startswith("y") else f"{body}\n        y = x")
    compiled = text.replace("def call", "@torch.compile(backend='eager')\ndef call")
    path.write_text(compiled.replace("(x, cache)", "(x: torch.Tensor, cache)"), encoding="utf-8")
    results = check_files([path], Config(tmp_path, weak=True)).results
    assert [one.diagnostic.confidence for one in results] == [BODIES[body]]
    made: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, str(path), "exec"), made)
    torch._dynamo.reset()
    counters.clear()
    torch.compile(made["call"], backend="eager", fullgraph=True)(torch.ones(3), {"a": 2})
    assert not counters["graph_break"]
