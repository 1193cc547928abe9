"""Which releases of torch a project is for, read from what it says to installers.

Nothing is imported or run. Where a file cannot be read, what it may have said is left out, and a
problem tells so.
"""

from tclint.torch_bounds.infer import PATTERNS, UNSTATED, Inferred, Torch, infer, may_speak
from tclint.torch_bounds.releases import NEWEST_TORCH, Version, shown

__all__ = [
    "NEWEST_TORCH",
    "PATTERNS",
    "UNSTATED",
    "Inferred",
    "Torch",
    "Version",
    "infer",
    "may_speak",
    "shown",
]
