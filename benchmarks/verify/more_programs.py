"""More programs that break, in ways that oracles tend to miss: loops, dropped frames, nesting.

A line that breaks says so in a comment with its ids. The clean ones look as if they broke.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import logging
import threading
import time
import warnings
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

_log = logging.getLogger("quiet")
_log.setLevel(logging.CRITICAL)
_guarded = threading.RLock()


def item_in_loop(x: Tensor) -> Tensor:
    for _ in range(3):
        x = x / x.abs().max().item()  # GB0124
    return x


def halve_until_small(x: Tensor) -> Tensor:
    while x.norm() > 100:  # GB0170
        x = x / 2
    return x


def early_exit(x: Tensor) -> Tensor:
    for _ in range(4):
        x = x * 0.5
        if x.max() < 100:  # GB0170
            break
    return x


def module_lock(x: Tensor) -> Tensor:
    with _guarded:  # GB0142
        return x.sin()


def print_in_comprehension(x: Tensor) -> Tensor:
    return sum(_noisy(x, n) for n in range(2))  # GB0091


def _noisy(x: Tensor, n: int) -> Tensor:
    print("", end="")  # GB0059
    return x * n


def generated(x: Tensor) -> Tensor:
    total = x
    for part in _parts(x):
        total = total + part
    return total


def _parts(x: Tensor) -> Iterator[Tensor]:
    for n in range(2):
        _log.info("part")  # GB0291
        yield x * n


def in_try(x: Tensor) -> Tensor:
    try:
        return x / x.sum().item()  # GB0124
    except ZeroDivisionError:
        return x


def in_finally(x: Tensor) -> Tensor:
    try:
        x = x.cos()
    finally:
        time.sleep(0)  # GB0007
    return x


@contextlib.contextmanager
def _timed() -> Iterator[None]:
    yield


def in_context(x: Tensor) -> Tensor:
    with _timed():
        print("", end="")  # GB0059
        return x.exp()


class _Inner(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 1e9:  # GB0170
            return x
        return x * 2


class _Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(_Inner(), nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x) + 1


_outer = _Outer()


def nested_module(x: Tensor) -> Tensor:
    return _outer(x)


def ternary(x: Tensor) -> Tensor:
    return x if x.mean() > 9 else x * 2  # GB0170


def any_of(x: Tensor) -> Tensor:
    return x * 2 if any(row.sum() > 99 for row in x) else x  # GB0170 GB8335


def counted(x: Tensor) -> Tensor:
    return x * len(x.nonzero())  # GB0036


def distinct(x: Tensor) -> Tensor:
    return torch.unique(x).sum()  # GB0036


def as_list(x: Tensor) -> Tensor:
    return x * x.sum(dim=0).tolist()[0]  # GB0109


def warned(x: Tensor) -> Tensor:
    warnings.warn("careful", stacklevel=2)  # GB0007
    return x + 1


def hashed(x: Tensor) -> Tensor:
    return x * (len(hashlib.sha256(b"x").hexdigest()) > 0)  # GB0007 GB0156


def dumped(x: Tensor) -> Tensor:
    return x * len(json.dumps({"a": 1}))  # GB0156


def copied(x: Tensor) -> Tensor:
    return copy.deepcopy(x) + 1  # GB4198


def reseeded(x: Tensor) -> Tensor:
    torch.manual_seed(0)  # GB0007
    return x + 1


@torch.compiler.disable
def _apart(x: Tensor) -> Tensor:
    return x * 2


def disabled_helper(x: Tensor) -> Tensor:
    return _apart(x + 1) * 3  # GB0098


def two_in_a_row(x: Tensor) -> Tensor:
    x = x * x.max().item()  # GB0124
    return x * x.min().item()  # GB0124


def lambda_inside(x: Tensor) -> Tensor:
    scale = lambda t: t / t.max().item()  # noqa: E731  # GB0124
    return scale(x)


def asserted(x: Tensor) -> Tensor:
    assert (x < 1e9).all()
    return x * 2


def guarded_print(x: Tensor) -> Tensor:
    if not torch.compiler.is_compiling():
        print("", end="")
    return x * 2


def caught(x: Tensor) -> Tensor:
    try:
        return x.reshape(8, 8) * 2
    except RuntimeError:
        return x


def no_gradient(x: Tensor) -> Tensor:
    with torch.no_grad():
        return x.sum(dim=0) * 2


Program = Callable[[Tensor], Tensor]
MORE_CLEAN: tuple[Program, ...] = (asserted, guarded_print, caught, no_gradient)
MORE_BREAKING: tuple[Program, ...] = (
    item_in_loop,
    halve_until_small,
    early_exit,
    module_lock,
    print_in_comprehension,
    generated,
    in_try,
    in_finally,
    in_context,
    nested_module,
    ternary,
    any_of,
    counted,
    distinct,
    as_list,
    warned,
    hashed,
    dumped,
    copied,
    reseeded,
    disabled_helper,
    two_in_a_row,
    lambda_inside,
)
