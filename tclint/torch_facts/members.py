"""Names that only tensors have, and the tensors that layers have.

Kept by hand: that hardly anything else has a name is a judgement. ``tests/test_torch_facts.py``
holds it against numpy, modules and Python's own types.
"""

from __future__ import annotations

from typing import Final

from tclint.torch_facts.host import reads_host
from tclint.torch_facts.modules import has_parameters, is_module
from tclint.torch_facts.returns import attribute_kind, method_returns
from tclint.torch_facts.table import canonical

# Methods that neither numpy's arrays, nor Python's types, nor modules have under these names, and
# hardly anything else does.
_ONLY_TENSORS: Final = """
    addcmul addmm argwhere baddbmm bernoulli bincount bitwise_and bitwise_not bitwise_or bmm
    broadcast_to clamp clamp_max clamp_min contiguous cummax cummin expand_as index_add
    index_copy index_fill index_put index_select isfinite isinf isnan kthvalue log_softmax
    logical_and logical_not logical_or logical_xor logsumexp long masked_fill masked_scatter
    masked_select matmul movedim multinomial nan_to_num new_empty new_full new_ones new_tensor
    new_zeros permute repeat_interleave rsqrt scatter_add scatter_reduce softmax split_with_sizes
    swapdims take_along_dim topk tril triu type_as unbind unflatten unique_consecutive unsqueeze
    view_as
"""
ONLY_TENSORS: Final = frozenset(
    name for word in _ONLY_TENSORS.split() for name in (word, f"{word}_")
)

# What compiled code calls under these names is a tensor, or an array of numpy, which Dynamo takes
# for one.
_OF_ARRAYS: Final = frozenset(
    "all any argmax argmin cumsum detach item max mean min nonzero prod std sum tolist unique var"
    .split()
)  # fmt: skip

_PARAMETERS: Final = frozenset({"weight", "bias", "in_proj_weight", "in_proj_bias"})
_BUFFERS: Final = frozenset({"running_mean", "running_var", "num_batches_tracked"})


def is_only_of_tensors(name: str) -> bool:
    """True for a method that makes a tensor of whatever it is called on."""
    return name in ONLY_TENSORS


def is_only_of_arrays(name: str) -> bool:
    """True for a method that makes what compiled code calls it on a tensor or an array."""
    return name in _OF_ARRAYS


def is_tensor_member(name: str) -> bool:
    """True for the attributes and methods of tensors."""
    known = attribute_kind(name) or method_returns(name) or reads_host(name)
    return known is not None


def layer_tensor(dotted: str, name: str) -> str | None:
    """``"parameter"`` or ``"buffer"`` for what a layer of torch keeps under a name, else None."""
    if name in _PARAMETERS:
        return "parameter" if has_parameters(dotted) else None
    if name in _BUFFERS:
        is_norm = is_module(dotted) and "BatchNorm" in canonical(dotted)
        return "buffer" if is_norm else None
    return None
