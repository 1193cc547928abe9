"""Calls that hand on the elements of the tensors that they are given.

Kept by hand: each needs arguments of its own, which no schema makes up.
``tests/test_torch_facts_elements.py`` calls every one and looks at rank and dtype.
"""

from __future__ import annotations

from typing import Final

# By how much the rank changes; None where that depends.
REARRANGING: Final[dict[str, int | None]] = {
    "unsqueeze": 1, "transpose": 0, "permute": 0, "swapaxes": 0, "movedim": 0, "flip": 0, "roll": 0,
    "index_select": 0, "gather": 0, "narrow": 0, "masked_fill": 0, "scatter": 0, "tril": 0,
    "triu": 0, "select": -1, "expand_as": None, "repeat": None, "flatten": None, "squeeze": None,
    "view_as": None, "reshape_as": None, "repeat_interleave": None, "unflatten": None,
    "tile": None, "diagonal": None, "unfold": None, "take": None, "masked_select": None,
}  # fmt: skip
"""Methods that give their tensor's elements in another order or shape, or some of them."""
REARRANGING_FUNCTIONS: Final = frozenset(
    {f"torch.{name}" for name in REARRANGING}
    | {"torch.reshape", "torch.broadcast_to", "torch.nn.functional.pad"}
)
"""The same as functions, and those that are methods with rules of their own, or none at all."""
JOINING: Final[dict[str, int | None]] = {
    "torch.cat": 0, "torch.concat": 0, "torch.concatenate": 0, "torch.stack": 1,
    "torch.hstack": None, "torch.vstack": None, "torch.nn.utils.rnn.pad_sequence": 1,
}  # fmt: skip
SPLITTING: Final[dict[str, int]] = {
    "chunk": 0, "split": 0, "split_with_sizes": 0, "tensor_split": 0, "unbind": -1,
}  # fmt: skip
KEEPING: Final = frozenset({"detach", "clone", "contiguous", "requires_grad_", "cpu", "cuda"})
"""Methods that give a tensor of the same rank and dtype, whatever they are given."""
VIEWING: Final = frozenset({"view", "reshape", "expand"})
"""Methods whose arguments are the new shape."""
MEASURING: Final = frozenset({"numel", "nelement", "size", "stride", "__len__"})
"""Methods that tell lengths."""
RESHAPING_IN_PLACE: Final = frozenset(
    "resize_ resize_as_ squeeze_ unsqueeze_ t_ transpose_ swapaxes_ swapdims_ set_ as_strided_ "
    "swap_tensors".split()
)
"""What gives its tensor another shape, as a method or as a function of torch."""
