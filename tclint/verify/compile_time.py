"""How a cold start divides into the layers of the compiler (child process only)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tclint.verify.speed import CompilePhase

_BACKWARD = "backward_cumulative_compile_time_us"


def compile_phases(metrics: Sequence[Any]) -> tuple[CompilePhase, ...]:
    """Seconds by layer; each layer's clock includes the layers below, which are taken off it."""
    tracing = _sum(metrics, "dynamo_cumulative_compile_time_us")
    differentiating = _sum(metrics, "aot_autograd_cumulative_compile_time_us")
    lowering = _sum(metrics, "inductor_cumulative_compile_time_us")
    backward = _sum(metrics, _BACKWARD)
    backward_lowering = _sum(
        [metric for metric in metrics if getattr(metric, _BACKWARD, None)],
        "inductor_cumulative_compile_time_us",
    )
    generating = _sum(metrics, "inductor_code_gen_cumulative_compile_time_us")
    seconds = {
        "Dynamo: tracing and guards": tracing - differentiating,
        "AOTAutograd": differentiating
        - (lowering - backward_lowering)
        + (backward - backward_lowering),
        "Inductor: passes and scheduling": lowering - generating,
        "Inductor: code generation and kernels": generating,
    }
    return tuple(
        CompilePhase(name, round(value, 4)) for name, value in seconds.items() if value > 0
    )


def _sum(metrics: Sequence[Any], field: str) -> float:
    return sum(getattr(metric, field, None) or 0 for metric in metrics) / 1e6
