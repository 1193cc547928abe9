"""Which of torch's functions give new memory, and which may give a view of what they were given.

Measured: ``tests/test_torch_facts_memory.py`` calls every function with tensors of all kinds and
looks whose memory the result has. A name that is in no table may do anything.

Kept by hand: samples can show that a function shares memory, never that none of its calls does.
"""

from __future__ import annotations

from typing import Final

_BOTH: Final = (
    "abs acos acosh asin asinh atan atanh bitwise_not ceil cos cosh deg2rad digamma erf erfc "
    "erfinv exp exp2 expm1 floor frac isfinite isinf isnan isneginf isposinf isreal lgamma log "
    "log10 log1p log2 logical_not nan_to_num neg rad2deg reciprocal round rsqrt sgn sigmoid sign "
    "signbit sin sinh sqrt square tan tanh trunc "
    "all any amax amin aminmax argmax argmin argsort count_nonzero cummax cummin cumprod cumsum "
    "logcumsumexp logsumexp max mean median min mode nanmean nanmedian nansum norm prod sort std "
    "sum var topk kthvalue "
    "add atan2 bmm clamp clamp_max clamp_min clip clone div dot eq floor_divide fmod gather ge gt "
    "index_select le logical_and logical_or logical_xor lt masked_fill masked_select matmul "
    "maximum minimum mm mul multiply ne outer pow remainder sub subtract true_divide where "
    "log_softmax softmax bincount nonzero inverse det logdet trace tril triu"
).split()
ALLOCATING_METHODS: Final = frozenset([*_BOTH, *"new_empty new_ones new_tensor new_zeros".split()])
"""Methods of tensors that never share memory with the tensor, whatever its shape and dtype."""
_FACTORIES: Final = (
    "arange empty empty_like eye full full_like linspace logspace ones ones_like rand rand_like "
    "randint randint_like randn randn_like randperm tensor tril_indices triu_indices zeros "
    "zeros_like bernoulli multinomial normal poisson"
).split()
_COMPUTED: Final = (
    "addcdiv addcmul addmm addr baddbmm bucketize cat cdist copysign cross dist flip "
    "fliplr flipud gcd hypot index_add index_copy index_fill isclose isin lcm lerp logaddexp "
    "masked_scatter relu scatter scatter_add scatter_reduce searchsorted stack std_mean "
    "take_along_dim var_mean"
).split()
ALLOCATING_FUNCTIONS: Final = frozenset(
    [
        *(f"torch.{name}" for name in (*_BOTH, *_FACTORIES, *_COMPUTED)),
        *(
            f"torch.nn.functional.{name}"
            for name in (
                "avg_pool1d avg_pool2d binary_cross_entropy "
                "binary_cross_entropy_with_logits conv1d conv2d conv3d conv_transpose1d "
                "conv_transpose2d conv_transpose3d cosine_similarity cross_entropy gelu group_norm "
                "huber_loss kl_div l1_loss layer_norm linear log_softmax logsigmoid "
                "mse_loss nll_loss one_hot pad smooth_l1_loss softmax softplus"
            ).split()
        ),
    ]
)
"""Functions that never share memory with their arguments; none has an ``inplace``."""

WRITING_NOTHING: Final = frozenset(
    f"torch.{name}"
    for name in (
        "atleast_1d atleast_2d atleast_3d broadcast_tensors broadcast_to chunk conj diagonal "
        "dsplit einsum flatten hsplit meshgrid moveaxis movedim narrow permute ravel "
        "repeat_interleave reshape roll rot90 select split squeeze swapaxes swapdims t take "
        "tensor_split tensordot tile transpose unbind unflatten unsqueeze "
        "view_as_complex view_as_real vsplit"
    ).split()
)
"""Functions that write none of their arguments, and may give the memory of one."""

VIEW_METHODS: Final = frozenset(
    "bfloat16 bool byte chunk conj contiguous cpu cuda detach diagonal double expand expand_as "
    "flatten float half int long movedim moveaxis narrow permute ravel real reshape reshape_as "
    "resolve_conj resolve_neg select short split squeeze swapaxes swapdims t to transpose type "
    "type_as unbind unflatten unsqueeze view view_as".split()
)
"""Methods that only read, and may give the same memory."""
VIEW_ATTRIBUTES: Final = frozenset("H T data imag indices mH mT real values".split())
DESCRIPTIONS: Final = frozenset(
    "device dtype grad_fn is_cuda is_leaf is_sparse itemsize layout nbytes ndim "
    "requires_grad shape".split()
)
"""Attributes that hold nothing of the memory."""
READING_METHODS: Final = frozenset(
    "allclose dim element_size equal get_device is_complex is_contiguous is_floating_point "
    "is_nonzero item nelement numel size storage_offset stride tolist".split()
)
"""Methods that give no tensor."""
READING_FUNCTIONS: Final = frozenset(
    "bool complex float hasattr id int isinstance len print repr str type".split()
)
"""Builtins that give no tensor and keep nothing."""

KEEPING_RESULT: Final = frozenset("exp expm1 reciprocal relu rsqrt sigmoid sqrt tan tanh".split())
"""Functions of one tensor of which autograd keeps what they gave, and nothing else."""
KEEPING_NO_ARGUMENT: Final = KEEPING_RESULT | frozenset("neg negative".split())
"""Functions of one tensor of which autograd does not keep what they were given."""
