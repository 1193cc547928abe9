"""The generated table, loaded when first asked for; ``python -m scripts.torch_facts`` writes it."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("api.json")

MOVED = (
    ("torch.functional.", "torch."),
    ("torch._C._nn.", "torch.nn.functional."),
    ("torch._C._VariableFunctions.", "torch."),
)


@cache
def section(name: str) -> Any:
    """One part of the table, e.g. ``methods``."""
    return _table()[name]


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(FILE.read_bytes())
    return table


@lru_cache(maxsize=4096)
def canonical(dotted: str) -> str:
    """The public name of something that was imported from where torch defines it.

    ``torch.nn.modules.linear.Linear`` is ``torch.nn.Linear``.
    """
    for old, new in MOVED:
        if dotted.startswith(old):
            return new + dotted[len(old) :]
    for package in ("torch.nn.modules.", "torch.optim."):
        if dotted.startswith(package) and not dotted.startswith("torch.optim.lr_scheduler."):
            public = package.removesuffix("modules.")
            return public + dotted.rpartition(".")[2]
    return dotted
