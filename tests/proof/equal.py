"""Strict comparison of what two runs of a program left behind."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch


def difference(left: Any, right: Any, where: str = "result") -> str | None:
    """The first place where two values differ in type, dtype, shape or bits; None when equal."""
    if type(left) is not type(right):
        return f"{where}: {type(left).__name__} against {type(right).__name__}"
    if isinstance(left, torch.Tensor):
        return _tensor_difference(left, right, where)
    if isinstance(left, np.ndarray):
        same = left.dtype == right.dtype and left.tobytes() == right.tobytes()
        return None if same and left.shape == right.shape else f"{where}: arrays differ"
    if isinstance(left, float):
        same = left == right or (math.isnan(left) and math.isnan(right))
        return None if same else f"{where}: {left!r} against {right!r}"
    if isinstance(left, complex):
        return difference((left.real, left.imag), (right.real, right.imag), where)
    if isinstance(left, (list, tuple)):
        return _sequence_difference(left, right, where)
    if isinstance(left, dict):
        return _mapping_difference(left, right, where)
    if isinstance(left, BaseException):
        return difference(str(left), str(right), f"{where}: message")
    return _plain_difference(left, right, where)


def _tensor_difference(left: torch.Tensor, right: torch.Tensor, where: str) -> str | None:
    for name in ("dtype", "shape", "device", "requires_grad"):
        one, other = getattr(left, name), getattr(right, name)
        if one != other:
            return f"{where}.{name}: {one} against {other}"
    if left.is_sparse or not torch.equal(_bits(left), _bits(right)):
        return f"{where}: values differ: {left} against {right}"
    return None


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    plain = tensor.detach().contiguous()
    plain = torch.view_as_real(plain) if plain.is_complex() else plain
    if not plain.is_floating_point():
        return plain
    plain = plain.nan_to_num(nan=1e30)
    return torch.stack([plain, torch.signbit(plain).to(plain.dtype)])  # -0.0 is not 0.0


def _sequence_difference(left: Any, right: Any, where: str) -> str | None:
    if len(left) != len(right):
        return f"{where}: {len(left)} items against {len(right)}"
    found = (
        difference(a, b, f"{where}[{i}]") for i, (a, b) in enumerate(zip(left, right, strict=True))
    )
    return next(filter(None, found), None)


def _mapping_difference(left: Any, right: Any, where: str) -> str | None:
    if list(left) != list(right):
        return f"{where}: keys {list(left)} against {list(right)}"
    found = (difference(left[key], right[key], f"{where}[{key!r}]") for key in left)
    return next(filter(None, found), None)


def _plain_difference(left: Any, right: Any, where: str) -> str | None:
    if type(left).__eq__ is object.__eq__:  # two runs make two objects: identity says nothing
        return None
    return None if left == right else f"{where}: {left!r} against {right!r}"
