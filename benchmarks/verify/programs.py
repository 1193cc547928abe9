"""Fourteen small programs: thirteen that break the graph in different ways, one that does not."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable

import torch
from torch import Tensor

_log = logging.getLogger("quiet")
_log.setLevel(logging.CRITICAL)


def clean(x: Tensor) -> Tensor:
    return (x * 2).relu() + 1


def item(x: Tensor) -> Tensor:
    return x / x.abs().max().item()  # GB0124


def branch(x: Tensor) -> Tensor:
    if x.mean() > 100:  # GB0170
        return x * 2
    return x * 3


def inlined_branch(x: Tensor) -> Tensor:
    return branch(x.cos()).sin()


def guard(x: Tensor) -> Tensor:
    if torch.isnan(x).any():  # GB0170
        raise ValueError("not a number")
    return x * 2


def worded_assert(x: Tensor) -> Tensor:
    y = x.cos()
    assert (y <= 1).all(), f"cosine of {tuple(y.shape)} out of range"  # GB0170
    return y * 2


def loop_until(x: Tensor) -> Tensor:
    while x.abs().max() > 100:  # GB0170
        x = x / 10
    return x


def mask(x: Tensor) -> Tensor:
    return x[x > 0.5].mean()  # GB0036


def printed(x: Tensor) -> Tensor:
    y = x.exp()
    print("", end="")  # GB0059
    return y * 2


def logged(x: Tensor) -> Tensor:
    y = x.exp()
    _log.info("a message that nobody sees")  # GB0291
    return y * 2


def clock(x: Tensor) -> Tensor:
    started = time.perf_counter()  # GB0007
    return x + 1 if started > 0 else x


def lock(x: Tensor) -> Tensor:
    held = threading.Lock()  # GB0007
    with held:  # GB0142
        return x.exp()


def print_in_loop(x: Tensor) -> Tensor:
    for _ in range(2):
        print("", end="")  # GB0059
        x = x * 2
    return x


def drawn(x: Tensor) -> Tensor:
    return x + 1 if random.random() < 2 else x  # GB0007


CLEAN: tuple[Callable[[Tensor], Tensor], ...] = (clean,)
BREAKING: tuple[Callable[[Tensor], Tensor], ...] = (
    item,
    branch,
    inlined_branch,
    guard,
    worded_assert,
    loop_until,
    mask,
    printed,
    logged,
    clock,
    lock,
    print_in_loop,
    drawn,
)
