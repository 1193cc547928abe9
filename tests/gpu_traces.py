"""Spans as the profiler writes them of a GPU, made by hand: a call, its launch, its kernel."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tclint.run.rates import Rates

RATES = Rates(
    {"float32": 50e12, "TF32": 400e12, "bfloat16": 800e12, "float16": 800e12, "float64": 60e12},
    bandwidth=3e12,
    launch=4e-6,
    node=1.5e-6,
    to_device=50e9,
)
"""About what an H100 does."""
SGEMM = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_execute_kernel"
TF32 = "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1"
FLOAT = "float"
Dims = Sequence[Sequence[Any]]


class Trace:
    """Calls one after the other; all times are microseconds."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self._at = 1000.0

    def call(
        self,
        name: str,
        shapes: Dims,
        kernel: str,
        us: float,
        *,
        dtype: str = FLOAT,
        strides: Dims | None = None,
        values: Sequence[str] = (),
        cat: str = "kernel",
    ) -> None:
        """An operation that launches a kernel."""
        about = {
            "Input Dims": shapes,
            "Input type": [dtype if shape or not values else "Scalar" for shape in shapes],
            "Input Strides": strides or [_dense(shape) for shape in shapes],
            "Concrete Inputs": list(values) or [""] * len(shapes),
        }
        number = len(self.events) + 1
        self._add("cpu_op", name, self._at, 9.0, about)
        self._add("cuda_runtime", "cudaLaunchKernel", self._at + 3, 4.0, {"correlation": number})
        self._add(cat, kernel, self._at + 20, us, {"correlation": number}, tid=7)
        self._at += max(10.0, us)

    def step(self, optimizer: str, calls: int) -> None:
        """An optimizer's step: everything that was added in the last ``calls`` calls."""
        first = self.events[-3 * calls]["ts"] - 1
        name = f"Optimizer.step#{optimizer}.step"
        self._add("user_annotation", name, first, self.events[-3]["ts"] + 12 - first, {})

    def graph(self, kernels: Sequence[tuple[str, float]]) -> None:
        """A CUDA graph with its kernels, launched at once below some operation."""
        number = len(self.events) + 1
        self._add("cpu_op", "aten::mm", self._at, 9.0, {})
        self._add("cuda_runtime", "cudaGraphLaunch", self._at + 3, 4.0, {"correlation": number})
        for name, us in kernels:
            self._add("kernel", name, self._at + 20, us, {"correlation": number}, tid=7)
            self._at += us

    def load(self, us: float, workers: bool) -> None:
        """A batch is waited for."""
        kind = "MultiProcessing" if workers else "SingleProcess"
        name = f"enumerate(DataLoader)#_{kind}DataLoaderIter.__next__"
        self._add("user_annotation", name, self._at, us, {})
        self._at += us

    def wait(self, us: float) -> None:
        """The host waits until the GPU is done."""
        self._add("cuda_runtime", "cudaStreamSynchronize", self._at, us, {})
        self._at += us

    def _add(
        self, cat: str, name: str, ts: float, dur: float, args: dict[str, Any], tid: int = 1
    ) -> None:
        self.events.append(
            {"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur, "tid": tid, "args": args}
        )


def _dense(shape: Sequence[Any]) -> list[Any]:
    if any(isinstance(one, list) for one in shape):
        return [_dense(one) for one in shape]
    return [prod(shape[at + 1 :]) for at in range(len(shape))]
