"""Inputs that nobody wrote a factory for: from the configuration, or from a module's first layer.

Child process only.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from tclint.verify.errors import TargetError

_SPEC = re.compile(r"(\w+)\[([\d, ]*)\](?:<(\d+))?")
_BATCH, _SIDE, _LENGTH = 4, 32, 16
_DEFAULT_BOUND = 2


def from_specs(specs: Sequence[str], text: str) -> tuple[torch.Tensor, ...]:
    """Random tensors as configured: ``float32[8, 3, 32, 32]``, ``int64[8]<10`` (below 10)."""
    return tuple(_from_spec(spec, text) for spec in specs)


def derive(model: Any, text: str) -> tuple[torch.Tensor, ...]:
    """One random tensor of the kind that the first layer of ``model`` takes."""
    first = _first_layer(model) if isinstance(model, nn.Module) else None
    made = _input_of(first) if first is not None and _takes_one(model) else None
    if made is None:
        raise TargetError(
            f"{text}: cannot tell what to call {type(model).__name__} with: return `inputs` "
            "beside it, or pass --inputs 'float32[4, 3, 32, 32]'"
        )
    return (made,)


def _from_spec(spec: str, text: str) -> torch.Tensor:
    match = _SPEC.fullmatch(spec)
    dtype = getattr(torch, match[1], None) if match else None
    if match is None or not isinstance(dtype, torch.dtype):
        raise TargetError(f"{text}: {spec!r} is not an input such as float32[8, 3] or int64[8]<10")
    shape = [int(size) for size in match[2].split(",") if size.strip()]
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(shape, dtype=dtype)
    return torch.randint(int(match[3] or _DEFAULT_BOUND), shape).to(dtype)


def _takes_one(model: nn.Module) -> bool:
    parameters = list(inspect.signature(model.forward).parameters.values())
    required = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    return len(required) == 1 or (bool(parameters) and not required)


def _first_layer(model: nn.Module) -> nn.Module | None:
    leaves = (module for module in model.modules() if not list(module.children()))
    return next((leaf for leaf in leaves if list(leaf.parameters(recurse=False))), None)


def _input_of(layer: nn.Module) -> torch.Tensor | None:
    match layer:
        case nn.Linear():
            return torch.randn(_BATCH, layer.in_features)
        case nn.Conv1d() | nn.Conv2d() | nn.Conv3d():
            return torch.randn(_BATCH, layer.in_channels, *[_SIDE] * len(layer.kernel_size))
        case nn.Embedding():
            return torch.randint(layer.num_embeddings, (_BATCH, _LENGTH))
    return None
