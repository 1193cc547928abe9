"""TCL415: `fullgraph=True` for a module that DDP or FSDP wraps."""

from __future__ import annotations

import ast
from typing import ClassVar

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import CompileCall

from ..collectives.collective_in_region import GROUP
from .wrapped import DDP, FSDP, wrapped_before

_CALLED = "\n\n\ndef f(x):\n    return model(x)\n"


class FullgraphOfWrapped(Rule[CompileCall]):
    """`fullgraph=True` for a module that is wrapped already.

    ## What it does
    Reports `torch.compile(DistributedDataParallel(...), fullgraph=True)` and the same with
    `FullyShardedDataParallel`, also where the wrapped module is in a variable. FSDP2
    (`fully_shard`) and files that set `optimize_ddp = "python_reducer"` are left alone.

    ## Why it hurts
    The wrappers' own `forward` does not compile whole: the first call raises `Unsupported`, in
    training and under `no_grad` (torch 2.13, gloo). Without `fullgraph` it compiles with 3
    breaks in DDP's code, or 1 in that of FSDP. Compiled first and wrapped then, the module
    is one graph with 0 breaks.

    ## Fix safety
    Not fixed: the other order changes the names in the state dict.

    ## References
    `torch.nn.parallel.DistributedDataParallel`, `torch.compile`.
    """

    code = "TCL415"
    name = "fullgraph-of-wrapped-module"
    summary = "`fullgraph=True` raises for a module that DDP or FSDP wraps"
    on = CompileCall
    effects = (Effect.INVALID,)
    outside_regions = True
    examples: ClassVar = (
        Untouched(
            code=(
                "from torch.nn.parallel import DistributedDataParallel as DDP\n"
                f"{GROUP}model = torch.compile(DDP(nn.Linear(3, 3)), fullgraph=True){_CALLED}"
            ),
            reason="compile the module, then wrap it",
            proves=("raises",),
            title="DDP",
        ),
        Untouched(
            code=(
                "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\n"
                f'{GROUP}model = nn.Linear(3, 3)\ncpu = torch.device("cpu")\n'
                "model = FSDP(model, use_orig_params=True, device_id=cpu)\n"
                f"model = torch.compile(model, fullgraph=True){_CALLED}"
            ),
            reason="compile the module, then wrap it",
            proves=("raises",),
            title="FSDP, in a variable",
        ),
        Good(
            code=(
                "from torch.nn.parallel import DistributedDataParallel as DDP\n"
                f"{GROUP}model = DDP(torch.compile(nn.Linear(3, 3), fullgraph=True)){_CALLED}"
            ),
            title="compiled first",
        ),
    )

    def check(self, event: CompileCall) -> Finding | None:
        """Look for a wrapper around what is compiled."""
        full = event.keywords.get("fullgraph")
        if not isinstance(full, ast.Constant) or full.value is not True:
            return None
        wrapper = wrapped_before(event, DDP | FSDP)
        if wrapper is None or "python_reducer" in event.site.module.file.text:
            return None
        return Finding(
            f"`{event.site.text(wrapper.func)}` does not compile whole: with `fullgraph=True` the "
            "first call raises",
            fix=Decline("compile the module, then wrap it: the names in the state dict change"),
            node=full,
            confidence=Confidence.HIGH,
            related=(wrapper,),
        )
