"""The clock that ``benchmarks.runs.timed`` puts around statements: what each of them took."""

from __future__ import annotations

import atexit
import json
import os
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from time import time_ns
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_pre_hook

_FOLDER = os.environ.get("BENCHMARK_CLOCK", "")
_PID, _THREAD = os.getpid(), threading.get_ident()
_MOST = 6_000_000
_entries = array("q")
"""Four numbers of each: the statement, the entry that it ran in, its start, its end."""
_open: list[int] = []
_learning: set[int] = set()
"""The entries that called a model with gradients, or a backward pass."""


def _counts() -> bool:
    return threading.get_ident() == _THREAD and len(_entries) < 4 * _MOST


def _learns(*_: Any) -> None:
    if _open and torch.is_grad_enabled() and threading.get_ident() == _THREAD:
        _learning.add(_open[-1])


def _backward(given: Callable[..., Any]) -> Callable[..., Any]:
    def backward(*args: Any, **kwargs: Any) -> Any:
        _learns()
        return given(*args, **kwargs)

    return backward


def start(number: int) -> int:
    """A statement starts; how many were running, for ``stop``."""
    depth = len(_open)
    if _counts():
        _entries.extend((number, _open[-1] if _open else -1, time_ns(), 0))
        _open.append(len(_entries) // 4 - 1)
    return depth


def stop(depth: int) -> None:
    """It ended, and so did whatever an exception cut off in it."""
    if threading.get_ident() != _THREAD:
        return
    now = time_ns()
    while len(_open) > depth:
        _entries[4 * _open.pop() + 3] = now


def of(depth: int, value: Any) -> Any:
    """The value of a test that was started."""
    stop(depth)
    return value


def each(number: int, values: Iterable[Any]) -> Iterator[Any]:
    """The values of a loop: what it takes to come by the next."""
    found = iter(values)
    while True:
        depth = start(number)
        try:
            value = next(found)
        except StopIteration:
            return
        finally:
            stop(depth)
        yield value


@atexit.register
def _written() -> None:
    if _FOLDER and os.getpid() == _PID and _entries:
        stop(0)
        Path(_FOLDER, f"{_PID}.clock").write_bytes(_entries.tobytes())
        Path(_FOLDER, f"{_PID}.learning").write_text(json.dumps(sorted(_learning)))


register_module_forward_pre_hook(_learns)
torch.Tensor.backward = _backward(torch.Tensor.backward)  # type: ignore[method-assign]
torch.autograd.backward = _backward(torch.autograd.backward)
