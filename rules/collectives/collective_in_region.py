"""TCL150: communication that Dynamo cannot trace."""

from __future__ import annotations

from typing import ClassVar

from tclint.diagnostics import Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import Call

from .facts import NAMES, collective, short_name

GROUP = """\
import torch.distributed as dist

if not dist.is_initialized():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)


"""


class CollectiveInRegion(Rule[Call]):
    """Communication between processes that Dynamo cannot trace.

    What it does:
        Reports calls of `torch.distributed` in compiled code that break the graph: `broadcast`,
        `barrier`, `reduce`, `gather`, `scatter`, the list forms `reduce_scatter` and `all_to_all`,
        point-to-point messages, `new_group`, and the differentiable `torch.distributed.nn`.
        `all_reduce`, `all_gather`, `all_gather_into_tensor`, `reduce_scatter_tensor` and
        `all_to_all_single` are not reported: Dynamo replaces them by functional collectives, in
        one graph. Neither are `get_rank`, `get_world_size` and `is_initialized`.

    Why it hurts:
        The graph ends at the call and a new one begins behind it, so inductor can neither fuse
        across the communication nor overlap it with work. `torch.distributed.nn` sends the whole
        function to eager. Collectives of Python objects and `monitored_barrier` raise an internal
        error of Dynamo (torch 2.13, measured with gloo).

    Fix safety:
        Not fixed: the replacements take other shapes, or deliver to other ranks.

    References:
        GB0007, GB0088, GB1750, GB2696, GB9300. Point-to-point messages compile with the environment
        variable `TORCHDYNAMO_ENABLE_P2P_COMPILATION=1`.
    """

    code = "TCL150"
    name = "collective-in-region"
    summary = "Communication that Dynamo cannot trace breaks the graph"
    on = Call
    called = NAMES
    effects = (Effect.GRAPH_BREAK, Effect.INVALID)
    gb_ids = ("GB0007", "GB0088", "GB1750", "GB2696", "GB9300")
    examples: ClassVar = (
        Untouched(
            code=GROUP + "def f(x):\n    y = x * 2\n    dist.broadcast(y, 0)\n    return y + 1\n",
            reason="call it outside",
            proves=("GB0007",),
            title="a broadcast",
        ),
        Untouched(
            code=(
                f"{GROUP}def f(x):\n    y = torch.empty_like(x)\n"
                "    dist.reduce_scatter(y, [x * 2])\n    return y + 1\n"
            ),
            reason="`reduce_scatter_tensor` compiles",
            proves=("GB0007",),
            title="the list form",
        ),
        Untouched(
            code=(
                f"{GROUP}def f(x):\n    flags = [None]\n"
                "    dist.all_gather_object(flags, 3)\n    return x + flags[0]\n"
            ),
            reason="call it outside",
            proves=("raises",),
            title="objects",
        ),
        Good(
            code=GROUP + "def f(x):\n    y = x * 2\n    dist.all_reduce(y)\n    return y + 1\n",
            title="Dynamo knows this one",
        ),
        Good(
            code=f"{GROUP}def f(x):\n    return x / dist.get_world_size()\n",
            title="a question about the group",
        ),
    )

    def check(self, event: Call) -> Finding | None:
        """Look the function up among those that were measured."""
        found = collective(event.function)
        if found is None:
            return None
        name = short_name(event.function)
        if not found.gb_ids:
            message = f"compiling `{name}` raises an internal error of Dynamo; {found.advice}"
        else:
            message = f"`{name}` breaks the graph; {found.advice}"
        return Finding(
            message,
            fix=Decline(f"`{name}` has no form that compiles and does the same; {found.advice}"),
            effect=None if found.gb_ids else Effect.INVALID,
            gb_ids=found.gb_ids,
        )
