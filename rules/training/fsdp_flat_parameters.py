"""TCL514: FSDP with flat parameters, which is not compiled at all."""

from __future__ import annotations

import ast
from typing import ClassVar, Final

from tclint.diagnostics import Applicability, Confidence, Effect
from tclint.lint.rewrite import AddArgument, Repair
from tclint.lint.rule import Bad, Finding, Good, Rule
from tclint.semantics.events import CompileCall

from ..collectives.collective_in_region import GROUP
from ..compile_calls.wrapped import FSDP, wrapped_after, wrapped_before

_START: Final = (
    "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\n"
    f'{GROUP}cpu = torch.device("cpu")\n'
)
_CALLED: Final = "\n\n\ndef f(x):\n    return model(x)\n"
_COMPILED: Final = (
    f"{_START}model = torch.compile(FSDP(nn.Linear(3, 3), device_id=cpu{{more}})){_CALLED}"
)
_WRAPPED: Final = (
    f"{_START}model = torch.compile(nn.Linear(3, 3))\n"
    f"model = FSDP(model, use_orig_params={{flat}}, device_id=cpu){_CALLED}"
)


class FsdpFlatParameters(Rule[CompileCall]):
    """A compiled module that `FullyShardedDataParallel` gives flat parameters.

    ## What it does
    Reports `FullyShardedDataParallel(...)` without `use_orig_params=True` around or inside of
    `torch.compile(...)`. The default is False. FSDP2 (`fully_shard`) is not concerned.

    ## Why it hurts
    Dynamo refuses such modules, and nothing of them is compiled, without a word: 0 graphs, and
    1 graph with `use_orig_params=True` (torch 2.13, gloo, two linear layers, compiled before
    or after they were wrapped).

    ## Fix safety
    Unsafe: the optimizer gets the parameters of the module instead of flat ones, with
    their names, and its state is saved by them.

    ## References
    GB0053. `torch.distributed.fsdp.FullyShardedDataParallel`, the parameter `use_orig_params`.
    """

    code = "TCL514"
    name = "fsdp-flat-parameters"
    summary = "FSDP without `use_orig_params=True` is not compiled at all"
    on = CompileCall
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0053",)
    outside_regions = True
    examples: ClassVar = (
        Bad(
            code=_COMPILED.format(more=""),
            unsafe=_COMPILED.format(more=", use_orig_params=True"),
            proves=("GB0053",),
            title="the default",
        ),
        Bad(
            code=_WRAPPED.format(flat="False"),
            unsafe=_WRAPPED.format(flat="True"),
            proves=("GB0053",),
            title="wrapped after",
        ),
        Good(code=_WRAPPED.format(flat="True"), title="the original parameters"),
    )

    def check(self, event: CompileCall) -> Finding | None:
        """Look for the wrapper, inside or outside."""
        wrapper = wrapped_before(event, FSDP) or wrapped_after(event, FSDP)
        if wrapper is None or len(wrapper.args) > 1:
            return None
        given = {k.arg: k.value for k in wrapper.keywords}.get("use_orig_params")
        if given is not None and not (isinstance(given, ast.Constant) and given.value is False):
            return None
        return Finding(
            "without `use_orig_params=True` Dynamo refuses what FSDP wraps: nothing is compiled",
            fix=Repair(
                "Keep the original parameters",
                (AddArgument(wrapper, "True", keyword="use_orig_params"),),
                Applicability.UNSAFE,
                changes="the optimizer gets the parameters of the module instead of flat ones",
            ),
            node=wrapper,
            confidence=Confidence.HIGH,
        )
