"""TCL702: CUDA graphs for sizes that vary."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Confidence, Effect
from tclint.lint.rule import Bad, Finding, Good, Rule
from tclint.semantics.events import CompileCall

from .modes import records_graphs

_NET: Final = "\nmodel = nn.Linear(3, 3)\n"


class RecordedPerSize(Rule[CompileCall]):
    """CUDA graphs are recorded for sizes that vary.

    ## What it does
    Reports `torch.compile(..., mode="reduce-overhead", dynamic=True)`, also with
    `mode="max-autotune"`.

    ## Why it hurts
    `dynamic=True` compiles once for all sizes, but a CUDA graph has fixed ones: each new size
    records another graph and keeps its memory. Two small products took 0.11 ms a call on an H200
    with `dynamic=True` alone, and 3.0 ms with `mode="reduce-overhead"` where each call had a new
    size. torch warns from the ninth on. A few sizes that come back are fine.

    ## Fix safety
    None is offered. Pad the inputs to a few sizes, or leave the graphs away: the default mode,
    `mode="max-autotune-no-cudagraphs"`, or
    `torch._inductor.config.triton.cudagraph_skip_dynamic_graphs = True`.

    ## References
    - [CUDAGraph Trees](https://docs.pytorch.org/docs/stable/torch.compiler_cudagraph_trees.html)
    """

    code = "TCL702"
    name = "graph-recorded-per-size"
    summary = "`dynamic=True` with CUDA graphs records a graph for each size"
    on = CompileCall
    effects = (Effect.COLD_START,)
    outside_regions = True
    examples = (
        Bad(f'{_NET}f = torch.compile(model, mode="reduce-overhead", dynamic=True)\n'),
        Good(f"{_NET}f = torch.compile(model, dynamic=True)\n", title="without graphs"),
        Good(f'{_NET}f = torch.compile(model, mode="reduce-overhead")\n', title="fixed sizes"),
    )

    def check(self, event: CompileCall) -> Finding | None:
        """Look for both keywords."""
        mode, dynamic = event.keywords.get("mode"), event.keywords.get("dynamic")
        if mode is None or not isinstance(mode, ast.Constant) or not records_graphs(mode.value):
            return None
        if not isinstance(dynamic, ast.Constant) or dynamic.value is not True:
            return None
        return Finding(
            f'`mode="{mode.value!s}"` records a CUDA graph for each size, and `dynamic=True` says '
            "that sizes vary",
            node=dynamic,
            confidence=Confidence.MEDIUM,
        )
