"""Measure what this GPU can do at best: products, memory, launches.

Run by the Python of the command that was recorded: ``python calibration.py FILE``. Writes one JSON
object: floating-point operations a second by precision, bytes a second, seconds a launch. It takes
about two seconds, and the best of some tries counts: what else runs here makes a try slower only.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

_TRIES = 6
_SIDE = 4096
"""The sides of the matrices that are multiplied."""
_BYTES = 1 << 28
_NODES = 400
"""Kernels in the CUDA graph whose nodes are timed."""


def gpu() -> dict[str, float]:
    """What the GPU does: at most a gigabyte of its memory is taken."""
    found = {"launch": _launch(), "node": _node(), "bandwidth": _bandwidth()}
    torch.backends.cuda.matmul.allow_tf32 = False
    found["float32"] = _products(torch.float32)
    torch.backends.cuda.matmul.allow_tf32 = True
    found["TF32"] = _products(torch.float32)
    for kind in (torch.bfloat16, torch.float16):
        found[str(kind).removeprefix("torch.")] = _products(kind)
    found["float64"] = _products(torch.float64)
    host = torch.empty(_BYTES // 4, dtype=torch.uint8, pin_memory=True)
    there = torch.empty_like(host, device="cuda")
    seconds = _best(lambda: there.copy_(host, non_blocking=True))
    found["to_device"] = host.numel() / seconds
    return found


def _products(kind: Any) -> float:
    one, other = (torch.randn(_SIDE, _SIDE, device="cuda").to(kind) for _ in range(2))
    into = torch.empty_like(one)
    return 2 * _SIDE**3 / _best(lambda: torch.mm(one, other, out=into))


def _bandwidth() -> float:
    one = torch.zeros(_BYTES // 4, device="cuda")
    other = torch.empty_like(one)
    return 2 * _BYTES / _best(lambda: other.copy_(one))


def _launch() -> float:
    number = torch.zeros((), device="cuda")

    def several() -> None:
        for _ in range(_NODES):
            number.add_(1)

    return _best(several) / _NODES


def _node() -> float:
    number = torch.zeros((), device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(_NODES):
            number.add_(1)
    return _best(graph.replay) / _NODES


def _best(act: Callable[[], Any]) -> float:
    """Seconds of the fastest of some tries; the first two only warm up."""
    each = []
    for _ in range(_TRIES + 2):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        act()
        torch.cuda.synchronize()
        each.append(time.perf_counter() - begun)
    return max(min(each[2:]), 1e-9)


def main() -> None:
    """Measure, and write what was found."""
    with torch.no_grad():
        found = gpu()
    Path(sys.argv[1]).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
