"""Which modes of `torch.compile` record CUDA graphs?"""

from __future__ import annotations

from typing import Final

MODES: Final = frozenset({"reduce-overhead", "max-autotune"})


def records_graphs(mode: object) -> bool:
    """True for a mode that records CUDA graphs."""
    return mode in MODES
