"""How Dynamo treats ``torch.distributed``, measured: torch 2.13, gloo, one and two processes."""

from __future__ import annotations

from tclint.records import record

PACKAGE = "torch.distributed."
OUTSIDE = "call it outside of compiled code"
REWRITTEN = frozenset(
    {"all_gather", "all_gather_into_tensor", "all_reduce", "all_to_all_single"}
    | {"reduce_scatter_tensor"}
)
"""Dynamo replaces these by functional collectives, unless they are asynchronous."""
_SKIPPED = ("GB0007",)
_DIFFERENTIABLE_NAMES = frozenset(
    "all_gather all_reduce all_to_all all_to_all_single broadcast gather reduce reduce_scatter "
    "scatter".split()
)


@record(frozen=True)
class Collective:
    """What a compiled call does. Without ids it raises an internal error of Dynamo."""

    gb_ids: tuple[str, ...]
    advice: str = OUTSIDE


_COLLECTIVES = {
    "all_to_all": Collective(_SKIPPED, "`all_to_all_single` compiles"),
    "barrier": Collective(_SKIPPED),
    "batch_isend_irecv": Collective(("GB9300",)),
    "broadcast": Collective(_SKIPPED),
    "gather": Collective(_SKIPPED, "`all_gather_into_tensor` compiles"),
    "irecv": Collective(("GB2696",)),
    "isend": Collective(("GB2696",)),
    "new_group": Collective(_SKIPPED, "create the group before compiled code runs"),
    "new_subgroups": Collective(_SKIPPED, "create the groups before compiled code runs"),
    "P2POp": Collective(("GB1750",)),
    "recv": Collective(("GB2696",)),
    "reduce": Collective(_SKIPPED, "`all_reduce` compiles"),
    "reduce_scatter": Collective(_SKIPPED, "`reduce_scatter_tensor` compiles"),
    "scatter": Collective(_SKIPPED),
    "send": Collective(("GB2696",)),
    **dict.fromkeys(
        "all_gather_object broadcast_object_list gather_object scatter_object_list "
        "monitored_barrier".split(),
        Collective(()),
    ),
}
_WITHOUT_GRADIENT = "where no gradient is needed, as in `backward`, `torch.distributed.%s` compiles"
NAMES = _COLLECTIVES.keys() | _DIFFERENTIABLE_NAMES
"""The last names of all functions that do not compile as they are."""


def short_name(function: str) -> str:
    """``all_reduce`` for ``torch.distributed.all_reduce``, wherever torch defines it."""
    return function.removeprefix(PACKAGE).removeprefix("distributed_c10d.")


def collective(function: str) -> Collective | None:
    """What is known of a dotted function that does not compile as it is."""
    if not function.startswith(PACKAGE):
        return None
    for package in ("torch.distributed.nn.functional.", "torch.distributed.nn."):
        if function.startswith(package):
            name = function.removeprefix(package)
            advice = _WITHOUT_GRADIENT % name if name in REWRITTEN else OUTSIDE
            return Collective(("GB0088",), advice) if name in _DIFFERENTIABLE_NAMES else None
    return _COLLECTIVES.get(short_name(function))
