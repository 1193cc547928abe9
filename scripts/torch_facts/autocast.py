"""What autocast computes in float32 whatever it is given, and what in 16 bits.

Calls of torch's own tests are made again under autocast, with fake tensors: that needs no GPU.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_map_only

from scripts.torch_facts.behaviour import FAILURES, Operation
from scripts.torch_facts.sampled import Heard, heard

DEVICES = ("cuda", "cpu")
HALF = torch.bfloat16
_CHANGES = ((torch.float32, HALF, "lowered"), (HALF, torch.float32, "widened"))
_MOST = 6
"""Samples of an operation."""


def autocast(operations: Mapping[str, Operation]) -> dict[str, dict[str, list[str]]]:
    """By the kind of device: last names of what is ``widened`` to float32, or ``lowered``."""
    found: dict[str, dict[str, set[str]]] = {
        device: {"widened": set(), "lowered": set()} for device in DEVICES
    }
    for name, function, arguments, keywords in _calls(operations):
        for device, (given, wanted, how) in itertools.product(DEVICES, _CHANGES):
            call = function, arguments, keywords, device, given
            if _dtypes(*call, on=False) == {given} and wanted in _dtypes(*call, on=True):
                found[device][how].add(name.rpartition(".")[2])
    return {
        device: {how: sorted(names) for how, names in told.items()}
        for device, told in found.items()
    }


def _calls(operations: Mapping[str, Operation]) -> Iterator[Heard]:
    from torch.testing._internal.common_methods_invocations import op_db

    known = set()
    for operation in op_db:
        if torch.float32 in operation.dtypes:
            samples = operation.sample_inputs("cpu", torch.float32)
            for sample in itertools.islice(samples, _MOST):
                for name, function, arguments, keywords in heard(operation, sample):
                    known.add(name)
                    yield name, function, arguments, keywords
                    more = tree_map_only(Tensor, lambda one: one[None], arguments)
                    yield name, function, more, keywords
    for name, function in operations.items():
        if name not in known and f"torch.Tensor.{name}" not in known:
            yield name, function, (torch.ones(4, 4),), {}


def _dtypes(
    function: Any, arguments: Any, keywords: Any, device: str, dtype: torch.dtype, *, on: bool
) -> set[torch.dtype]:
    """The dtypes of what a call gives whose float32 tensors are of another dtype."""
    mode = FakeTensorMode(allow_non_fake_inputs=True)

    def moved(tensor: Tensor) -> Tensor:
        kind = dtype if tensor.dtype == torch.float32 else tensor.dtype
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=kind, device=device)

    with mode, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given, named = tree_map_only(Tensor, moved, (arguments, keywords))
        torch.set_autocast_enabled(device, on)
        torch.set_autocast_dtype(device, HALF)
        try:
            result = function(*given, **named)
        except (*FAILURES, NotImplementedError):
            return set()
        finally:
            torch.set_autocast_enabled(device, False)
            torch.clear_autocast_cache()
    return {one.dtype for one in _results(result)}


def _results(result: object) -> list[Tensor]:
    several = result if isinstance(result, (tuple, list)) else [result]
    return [one for one in several if isinstance(one, Tensor) and one.is_floating_point()]
