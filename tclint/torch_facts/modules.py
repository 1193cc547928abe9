"""The layers of ``torch.nn``: classes, containers, what every module has.

Which classes are layers, and what they give, is in the generated table. The names here are kept by
hand, because they are those that the analysis treats by themselves.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from tclint.records import record
from tclint.torch_facts.table import canonical, section

ANY_MODULE: Final = "torch.nn.Module"
"""Nothing is known of what it gives when it is called."""
MODULE_CLASSES: Final = frozenset(
    {
        "torch.nn.Module",
        "torch.nn.modules.module.Module",
        "torch.fx.GraphModule",
        "torch.fx.graph_module.GraphModule",
    }
)
MODULE_PACKAGES: Final = ("torch.nn.", "torch.ao.nn.")
NO_MODULES: Final = frozenset(
    {
        "torch.nn.Buffer",
        "torch.nn.Parameter",
        "torch.nn.UninitializedParameter",
        "torch.nn.modules.lazy.LazyModuleMixin",
        "torch.nn.parameter.Buffer",
        "torch.nn.parameter.Parameter",
        "torch.nn.parameter.UninitializedParameter",
    }
)
"""What these packages hold besides modules, as far as people inherit from it."""
GIVE_THE_MODULE: Final = frozenset(
    {
        "apply", "bfloat16", "compile", "cpu", "cuda", "double", "eval", "float", "half", "ipu",
        "mtia", "requires_grad_", "share_memory", "to", "to_empty", "train", "type", "xpu",
    }
)  # fmt: skip
"""Methods of a module that give it back."""
ASKED_OF_MODULES: Final = frozenset(
    {
        "add_module", "buffers", "children", "extra_repr", "get_buffer", "get_extra_state",
        "get_parameter", "get_submodule", "load_state_dict", "modules", "named_buffers",
        "named_children", "named_modules", "named_parameters", "no_sync", "parameters",
        "register_backward_hook", "register_buffer", "register_forward_hook",
        "register_forward_pre_hook", "register_full_backward_hook", "register_module",
        "register_parameter", "set_extra_state", "set_submodule", "state_dict", "zero_grad",
    }
)  # fmt: skip
"""Methods of a module that do not run it."""
LISTS: Final = frozenset({"torch.nn.ModuleList", "torch.nn.ParameterList"})
DICTS: Final = frozenset({"torch.nn.ModuleDict", "torch.nn.ParameterDict"})
CONTAINERS: Final = LISTS | DICTS | {"torch.nn.Sequential"}
WRAPPERS: Final = frozenset(
    {
        "torch.nn.DataParallel", "torch.nn.parallel.DataParallel",
        "torch.nn.parallel.data_parallel.DataParallel",
        "torch.nn.parallel.DistributedDataParallel",
        "torch.nn.parallel.distributed.DistributedDataParallel",
        "torch.distributed.fsdp.FullyShardedDataParallel",
        "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel",
    }
)  # fmt: skip
"""Modules whose ``forward`` is that of the module they are given."""
HOOKS: Final = (
    "register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook",
    "register_full_backward_pre_hook",
)  # fmt: skip
MODULE_METHODS: Final = frozenset(
    {
        "register_buffer", "register_parameter", "parameters", "named_parameters", "buffers",
        "modules", "children", "named_children", "named_modules", "state_dict", "eval", "train",
        "to", "cuda", "cpu", "half", "float", "requires_grad_", "zero_grad", "apply", "compile",
        "add_module", "register_module", "__call__", "load_state_dict", *HOOKS,
    }
)  # fmt: skip


def is_module(dotted: str) -> bool:
    """True for the name of a class of ``torch.nn`` that is a module."""
    return _facts(dotted) is not None


def has_parameters(dotted: str) -> bool | None:
    """Whether the layer, made with its default options, has parameters; None for containers."""
    facts = _facts(dotted)
    return facts[0] if facts else None


def module_returns(dotted: str) -> str | None:
    """What calling the layer returns."""
    facts = _facts(dotted)
    return facts[1] if facts else None


@record(frozen=True)
class CallResult:
    """What calling a layer with one tensor gives.

    ``rank`` is ``"same"``, ``"zero"``, ``"one"``, ``"two"``, a shift such as ``"-1"``, or
    ``"varies"``. ``dtype`` is ``"same"``, ``"float"`` (floats stay, integers and bools become the
    default float), or ``"varies"``.
    """

    rank: str
    dtype: str


def module_result(dotted: str) -> CallResult | None:
    """Rank and dtype of calling the layer with one tensor."""
    facts = _facts(dotted)
    if facts is None or facts[2] is None:
        return None
    rank, _, dtype = facts[2].partition(" ")
    return CallResult(rank, dtype)


@lru_cache(maxsize=4096)
def _facts(dotted: str) -> tuple[bool | None, str, str | None] | None:
    package, _, name = canonical(dotted).rpartition(".")
    if package != "torch.nn":
        return None
    facts: tuple[bool | None, str, str | None] | None = section("modules").get(name)
    return facts
