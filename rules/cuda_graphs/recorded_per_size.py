"""TCL702: CUDA graphs for sizes that vary."""

from __future__ import annotations

import ast

from tclint.diagnostics import Confidence, Effect, Worth
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import CompileCall

from .modes import records_graphs


class RecordedPerSize(Rule[CompileCall]):
    """CUDA graphs are recorded for varying sizes."""

    code = "TCL702"
    name = "graph-recorded-per-size"
    summary = "`dynamic=True` with CUDA graphs records a graph for each size"
    instead = (
        "Pad the inputs to a few sizes, or use a mode without CUDA graphs "
        "(`max-autotune-no-cudagraphs`)"
    )
    worth = Worth.HIGH
    measured = "2.9 ms a call with a new size (H200)"
    on = CompileCall
    on_gpu = True
    effects = (Effect.COLD_START,)
    outside_regions = True

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
