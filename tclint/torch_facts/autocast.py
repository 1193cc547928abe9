"""What autocast computes in float32 whatever it is given, and what in 16 bits."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from tclint.torch_facts.table import section

DEVICES: Final = ("cuda", "cpu")
_WORD: Final = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@lru_cache(maxsize=2048)
def widens(device: str, key: str) -> bool:
    """Whether autocast on that kind of device has a call or a layer compute in float32."""
    name, widened = _name(key), section("autocast")[device]["widened"]
    return name in widened or name.removesuffix("2d") in widened  # `torch.nn.Softmax2d`


@lru_cache(maxsize=2048)
def lowers(key: str) -> bool:
    """Whether autocast has a call or a layer compute in 16 bits, on any kind of device."""
    return any(_name(key) in section("autocast")[device]["lowered"] for device in DEVICES)


def _name(key: str) -> str:
    """The name of the function: ``torch.nn.LayerNorm`` calls ``layer_norm``."""
    return _WORD.sub("_", key.rpartition(".")[2]).lower()
