"""Arguments for each kind of parameter, in the variants that callers may pass."""

from __future__ import annotations

import math
from typing import Any

import torch

DTYPES = {
    "float32": torch.float32, "float64": torch.float64, "float16": torch.float16,
    "bfloat16": torch.bfloat16, "int64": torch.int64, "uint8": torch.uint8, "bool": torch.bool,
    "complex64": torch.complex64, "complex128": torch.complex128, "float8": torch.float8_e4m3fn,
}  # fmt: skip
FILLS = {
    "nan": [1.0, math.nan, -2.0, 3.0],
    "inf": [1.0, math.inf, -math.inf, 0.0],
    "zero": [0.0, -0.0, 0.0, 0.0],
    "negative": [-1.0, -2.0, -0.5, -3.0],
    "large": [3e38, 70000.0, 2.0, 300.0],
}
VALUES = ([2.0, 1.0, 3.0, 0.5], [-1.5, 4.0, 0.25, 2.0], [1.0, 3.0, -2.0, 0.0])
MIXED = ("float16", "float32", "bfloat16", "float64")
"""The dtypes of the arguments by place, where they are of several."""
VARIANTS = (
    *DTYPES, *FILLS, "plain", "empty", "expanded", "strided", "same", "mixed", "0-d",
    "tensor subclass",
)  # fmt: skip
WITH_GRADIENT = ("float32", "float64", "float16", *FILLS)
NUMBERS = {"nan": math.nan, "inf": math.inf, "zero": 0.0, "negative": -2.0, "large": 1e300}


class Labelled(torch.Tensor):
    """A tensor of a class of its own."""


def argument(kind: str, variant: str, call: int, place: int) -> Any:
    """A value of a kind on the default device.

    V vector, M matrix, S 0-d, B mask, I index, N and K numbers, D what ``to`` takes.
    """
    if variant == "mixed":
        return argument(kind, MIXED[(place + call) % len(MIXED)], call, place)
    if kind == "N":
        return NUMBERS.get(variant, 0.5)
    if kind == "K":
        return int(variant != "zero") * (1 + call)
    if kind == "D":
        return {"strided": torch.float64, "expanded": torch.ones(1)}.get(
            variant, str(torch.get_default_device())
        )
    values = VALUES[(call + place) % 3]
    if kind == "B":
        return torch.tensor(values) > 1 if variant != "zero" else torch.zeros(4).bool()
    if kind == "I":
        return torch.tensor([2, 0, 1, 0])
    dtype = DTYPES.get(variant, torch.float32)
    tensor = torch.tensor(FILLS.get(variant, values), dtype=torch.float32)
    if kind == "M":
        tensor = torch.stack(
            [tensor, tensor if dtype == torch.bool else tensor * 2, tensor, tensor]
        )
    tensor = _shaped(tensor.to(dtype), kind, variant)
    return tensor.requires_grad_(True) if variant in WITH_GRADIENT else tensor


def _shaped(tensor: torch.Tensor, kind: str, variant: str) -> torch.Tensor:
    if variant == "empty" and kind != "S":
        return tensor[:0]
    if kind == "S" or (variant == "0-d" and kind == "V"):
        return tensor[1].clone()
    if variant == "tensor subclass":
        return tensor.as_subclass(Labelled)
    if variant == "expanded":
        return tensor[:1].expand(*tensor.shape)
    if variant == "strided":
        return torch.stack([tensor, tensor], -1)[..., 0]
    return tensor
