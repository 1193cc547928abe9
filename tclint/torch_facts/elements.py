"""Methods of tensors that are in no schema of an operation, or write what a schema does not tell.

Kept by hand: ``tests/test_torch_facts_elements.py`` calls every one and looks at rank and dtype.
"""

from __future__ import annotations

from typing import Final

KEEPING: Final = frozenset({"cpu", "cuda", "requires_grad_"})
"""Methods in no schema that give a tensor of the same rank and dtype."""
MEASURING: Final = frozenset({"numel", "nelement", "size", "stride", "__len__"})
"""Methods that tell lengths."""
RESHAPING_IN_PLACE: Final = frozenset(
    "resize_ resize_as_ squeeze_ unsqueeze_ t_ transpose_ swapaxes_ swapdims_ set_ as_strided_ "
    "swap_tensors".split()
)
"""What gives its tensor another shape, as a method or as a function of torch."""
