"""Arguments for each kind of parameter, in the variants that callers may pass."""

from __future__ import annotations

import math
from typing import Any

import torch

DTYPES = {
    "float32": torch.float32, "float64": torch.float64, "float16": torch.float16,
    "bfloat16": torch.bfloat16, "int64": torch.int64, "uint8": torch.uint8, "bool": torch.bool,
    "complex64": torch.complex64,
}  # fmt: skip
FILLS = {
    "nan": [1.0, math.nan, -2.0, 3.0],
    "inf": [1.0, math.inf, -math.inf, 0.0],
    "zero": [0.0, -0.0, 0.0, 0.0],
    "negative": [-1.0, -2.0, -0.5, -3.0],
    "large": [3e38, 70000.0, 2.0, 300.0],
}
VALUES = ([2.0, 1.0, 3.0, 0.5], [-1.5, 4.0, 0.25, 2.0], [1.0, 3.0, -2.0, 0.0])
VARIANTS = (*DTYPES, *FILLS, "plain", "empty", "expanded", "strided", "same")
NUMBERS = {"nan": math.nan, "inf": math.inf, "zero": 0.0, "negative": -2.0, "large": 1e300}


def argument(kind: str, variant: str, call: int, place: int) -> Any:
    """A value of a kind: V vector, M matrix, S 0-d, B mask, I index, N and K numbers."""
    if kind == "N":
        return NUMBERS.get(variant, 0.5)
    if kind == "K":
        return int(variant != "zero") * (1 + call)
    if kind == "D":
        return {"strided": torch.float64, "expanded": torch.ones(1)}.get(variant, "cpu")
    values = VALUES[(call + place) % 3]
    if kind == "B":
        return torch.tensor(values) > 1 if variant != "zero" else torch.zeros(4).bool()
    if kind == "I":
        return torch.tensor([2, 0, 1, 0])
    dtype = DTYPES.get(variant, torch.float32)
    tensor = torch.tensor(FILLS.get(variant, values), dtype=torch.float32).to(dtype)
    if kind == "M":
        tensor = torch.stack(
            [tensor, tensor * 2 if dtype != torch.bool else tensor, tensor, tensor]
        )
    tensor = _shaped(tensor, kind, variant)
    gradient = variant in ("float32", "float64", "nan", "inf", "zero", "negative", "large")
    return tensor.requires_grad_(True) if gradient else tensor


def _shaped(tensor: torch.Tensor, kind: str, variant: str) -> torch.Tensor:
    if variant == "empty" and kind != "S":
        return tensor[:0]
    if kind == "S":
        return tensor[1].clone()
    if variant == "expanded":
        return tensor[:1].expand(*tensor.shape)
    if variant == "strided":
        return torch.stack([tensor, tensor], -1)[..., 0]
    return tensor
