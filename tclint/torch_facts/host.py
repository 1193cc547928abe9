"""What reads a tensor's data on the host, and whose result's shape depends on the data.

Compiled one by one on torch 2.13 with default settings; the ids are those that Dynamo printed.
An empty tuple means that it is traced: the read is a host sync, not a graph break. What a method
does, the function of torch of its name does.

Kept by hand: torch's schemas do not say who looks at data, and Dynamo says so only when it meets a
call. ``tests/test_torch_facts_kept_by_hand.py`` compiles each.
"""

from __future__ import annotations

from typing import Final

READS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "__array__": ("numpy", ()),
    "__bool__": ("bool", ("GB0124",)),
    "__complex__": ("complex", ("GB0059",)),
    "__contains__": ("contains", ("GB0124",)),
    "__float__": ("float", ("GB0124",)),
    "__format__": ("format", ("GB0059",)),
    "__index__": ("int", ("GB0124",)),
    "__int__": ("int", ("GB0124",)),
    "__repr__": ("format", ("GB0569",)),
    "__str__": ("format", ("GB0059",)),
    "allclose": ("bool", ("GB0033",)),
    "corrcoef": ("branch", ("GB0033",)),
    "cov": ("branch", ("GB0033",)),
    "cpu": ("copy", ()),
    "equal": ("bool", ("GB0033",)),
    "is_nonzero": ("bool", ("GB0033",)),
    "item": ("item", ("GB0124",)),
    "numpy": ("numpy", ()),
    "tolist": ("tolist", ("GB0033", "GB0109")),
}

SHAPES: Final[dict[str, str]] = {
    "argwhere": "GB0036",
    "bincount": "GB0036",
    "masked_select": "GB0036",
    "nonzero": "GB0036",
    "torch.combinations": "GB0036",
    "torch.linalg.lstsq": "GB0036",
    "torch.nn.functional.ctc_loss": "GB0036",
    "torch.ctc_loss": "GB0036",
    "torch.nn.functional.one_hot": "GB0246",
    "torch.ops.torchvision.nms": "GB0036",
    "torch.where": "GB0036",
    "torchvision.ops.batched_nms": "GB0036",
    "torchvision.ops.boxes.batched_nms": "GB0036",
    "torchvision.ops.boxes.nms": "GB0036",
    "torchvision.ops.nms": "GB0036",
    "repeat_interleave": "GB0036",
    "unique": "GB0036",
    "unique_consecutive": "GB0036",
}

# Some calls of these have a fixed shape; the words say which one has not.
_CONDITIONS: Final[dict[str, str]] = {
    "repeat_interleave": "tensor-repeats",
    "torch.nn.functional.one_hot": "no-num-classes",
    "torch.where": "one-argument",
}


def reads_host(name: str) -> str | None:
    """How a method or function brings data to the host, in the words of ``HostRead.via``.

    Beyond these: ``"copy"`` moves a tensor (``cpu()``), ``"branch"`` looks at data inside torch
    (``cov``). Arguments that are read are in :mod:`tclint.torch_facts.numbers`.
    """
    entry = READS.get(name.removeprefix("torch."))
    return entry[0] if entry else None


def host_read_gb_ids(name: str) -> tuple[str, ...]:
    """The ids that Dynamo prints for such a read with default settings; empty when traced."""
    entry = READS.get(name.removeprefix("torch."))
    return entry[1] if entry else ()


def dynamic_shape(name: str) -> tuple[str, str] | None:
    """``(gb id, condition)`` of a call whose result's shape depends on data.

    The condition is ``"always"``, ``"tensor-repeats"`` (and no ``output_size=``),
    ``"no-num-classes"`` or ``"one-argument"``.
    """
    key = name if name in SHAPES else name.removeprefix("torch.")
    gb_id = SHAPES.get(key)
    return (gb_id, _CONDITIONS.get(key, "always")) if gb_id else None
