"""What the GPU worked at in the profiled steps: each operation with its kernels, by kind."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from math import prod

from tclint.records import record
from tclint.run.operations import (
    ATTENTION,
    CONVOLUTIONS,
    FRACTIONS,
    HEAVY,
    MATMULS,
    Operation,
    read_operation,
    result_shape,
)
from tclint.run.spans import MICRO, Event, end_of, start_of

ON_GPU = frozenset({"kernel", "gpu_memcpy", "gpu_memset"})
_RUNTIME = frozenset({"cuda_runtime", "cuda_driver"})
_HOST = frozenset({"cpu_op", "user_annotation"})
_OPTIMIZER = "Optimizer.step#"
_GRAPH = "cudaGraphLaunch"


class Kind(str, Enum):
    """What a kernel is, in the words of the report."""

    MATMUL = "matmul"
    ATTENTION = "attention"
    BY_HAND = "attention by hand"
    CONVOLUTION = "convolution"
    FUSED = "fused pointwise and reductions"
    POINTWISE = "pointwise and reductions"
    OPTIMIZER = "optimizer"
    COPIES = "copies"
    COLLECTIVES = "collectives"
    OTHER = "other"


_BY_KERNEL: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (Kind.COLLECTIVES, re.compile(r"^nccl")),
    (Kind.COPIES, re.compile(r"^(Memcpy|Memset)")),
    (Kind.ATTENTION, re.compile(r"flash|fmha|sdpa|attention", re.IGNORECASE)),
    (Kind.FUSED, re.compile(r"^triton_(poi|red|per|for)_")),
    (
        Kind.CONVOLUTION,
        re.compile(r"conv(?!ert)|fprop|[dw]grad|winograd|n[ch]+wToN", re.IGNORECASE),
    ),
    (Kind.MATMUL, re.compile(r"gemm|gemv|nvjet|cutlass|cublas|^triton_tem_", re.IGNORECASE)),
    (
        Kind.POINTWISE,
        re.compile(
            r"elementwise|reduce_kernel|softmax|norm|index|gather|scatter|embedding|dropout"
            r"|CatArray|multi_tensor_apply|scan|sort|distribution|triu|tril|loss|pool|upsample",
            re.IGNORECASE,
        ),
    ),
)
"""What a kernel's own name tells, where no operation does: the first that fits."""
_BY_OPERATION: Mapping[str, Kind] = {
    **dict.fromkeys(MATMULS, Kind.MATMUL),
    **dict.fromkeys(CONVOLUTIONS, Kind.CONVOLUTION),
    **dict.fromkeys(ATTENTION, Kind.ATTENTION),
}
_TF32 = re.compile(r"tf32|s1688|nvjet", re.IGNORECASE)
"""Kernels that, given float32, multiply with fewer bits."""
_HALF: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("bfloat16", re.compile(r"bf16|bfloat16|nvjet_(sm\d+_)?t", re.IGNORECASE)),
    ("float16", re.compile(r"f16f16|h16816|hgemm|half|nvjet_(sm\d+_)?h", re.IGNORECASE)),
    ("TF32", _TF32),
    ("float32 (no TF32)", re.compile(r"sgemm|f32f32_f32f32|float", re.IGNORECASE)),
    ("float64", re.compile(r"dgemm|f64|double", re.IGNORECASE)),
)
_NHWC = re.compile(r"nhwc", re.IGNORECASE)
PRECISE = frozenset({Kind.MATMUL, Kind.ATTENTION, Kind.CONVOLUTION})
"""What multiplies, at a precision."""


@record(frozen=True)
class Work:
    """One call of an operation, and the milliseconds of its kernels.

    ``precision`` is that of a product, a convolution or attention, ``layout`` how a convolution's
    images lie in memory. ``optimizer`` names the optimizer within whose step it is.
    """

    kind: Kind
    call: Operation
    ms: float
    kernels: int = 1
    precision: str = ""
    layout: str = ""
    optimizer: str = ""

    @property
    def name(self) -> str:
        """Its class, as a report says it."""
        if self.kind is Kind.CONVOLUTION:
            # cuDNN multiplies with TF32 where it likes: what is given says more.
            return f"{self.kind.value} {self.layout}, {FRACTIONS.get(self.call.dtype, 'other')}"
        return f"{self.kind.value} {self.precision if self.kind in PRECISE else ''}".strip()


def gpu_work(events: Sequence[Event]) -> tuple[Work, ...]:
    """What ran on the GPU, in the order in which it was launched."""
    around, graphs = _around_launches(events), graph_launches(events)
    calls: dict[object, list[Event]] = {}
    spans: dict[object, tuple[Event, ...]] = {}
    for kernel in (event for event in events if event.get("cat") in ON_GPU):
        launch = _launch(kernel)
        # What launches a CUDA graph says nothing of each of its kernels.
        chain = () if launch in graphs else around.get(launch, ())
        owner = _owner(chain)
        key = id(owner) if owner is not None else (str(kernel["name"]), len(calls))
        calls.setdefault(key, []).append(kernel)
        spans[key] = chain
    return _with_attention([_work(kernels, spans[key]) for key, kernels in calls.items()])


def graph_launches(events: Sequence[Event]) -> frozenset[object]:
    """The launches that were CUDA graphs', by the numbers that their kernels have as well."""
    return frozenset(
        _launch(event)
        for event in events
        if event.get("cat") in _RUNTIME and str(event["name"]).startswith(_GRAPH)
    )


def share_in_graphs(events: Sequence[Event]) -> float:
    """The share of the kernels that CUDA graphs launched."""
    graphs = graph_launches(events)
    kernels = [_launch(event) in graphs for event in events if event.get("cat") in ON_GPU]
    return sum(kernels) / len(kernels) if kernels else 0.0


def _launch(event: Event) -> object:
    found: object = event.get("args", {}).get("correlation")
    return found


_Size = tuple[int, frozenset[int]]


def _with_attention(works: Sequence[Work]) -> tuple[Work, ...]:
    """The same, where what reads or writes the scores of attention is part of it.

    Scores are what both a softmax is given and a product of a batch gives or takes.
    """
    products = {_size(shape) for work in works for shape in _of_product(work)}
    scores = {
        _size(tensor.shape)
        for work in works
        if "softmax" in work.call.name
        for tensor in work.call.tensors[:1]
        if len(tensor.shape) > 2
    } & products
    return tuple(
        replace(work, kind=Kind.BY_HAND) if _touches(work, scores) else work for work in works
    )


def _of_product(work: Work) -> Sequence[tuple[int, ...]]:
    shape = result_shape(work.call) if "bmm" in work.call.name else ()
    return [shape] if shape else []


def _size(shape: Sequence[int]) -> _Size:
    """How many numbers, and of which rows and columns: views and transposes have the same."""
    return prod(shape), frozenset(shape[-2:])


def _touches(work: Work, scores: Collection[_Size]) -> bool:
    if not scores or work.kind not in {Kind.MATMUL, Kind.POINTWISE}:
        return False
    shapes = [tensor.shape for tensor in work.call.tensors if len(tensor.shape) > 2]
    return any(_size(shape) in scores for shape in [*shapes, *_of_product(work)])


def _around_launches(events: Sequence[Event]) -> dict[object, tuple[Event, ...]]:
    wanted = _HOST | _RUNTIME
    found: dict[object, tuple[Event, ...]] = {}
    for event, outer in _nested(event for event in events if event.get("cat") in wanted):
        if event.get("cat") in _RUNTIME:
            found[_launch(event)] = outer
    return found


def _nested(events: Iterable[Event]) -> Iterator[tuple[Event, tuple[Event, ...]]]:
    """Each span with those of its thread around it, the innermost first."""
    ordered = sorted(events, key=lambda one: (str(one.get("tid")), start_of(one), -end_of(one)))
    stack: list[Event] = []
    for event in ordered:
        while stack and (
            stack[-1].get("tid") != event.get("tid") or end_of(stack[-1]) < end_of(event)
        ):
            stack.pop()
        yield event, tuple(reversed(stack))
        if event.get("cat") not in _RUNTIME:
            stack.append(event)


def _owner(chain: Sequence[Event]) -> Event | None:
    """The call that a kernel is of: the innermost that is counted, or the innermost of all."""
    calls = [event for event in chain if event.get("cat") == "cpu_op"]
    counted = (event for event in calls if event["name"] in HEAVY)
    return next(counted, calls[0] if calls else None)


def _work(kernels: Sequence[Event], chain: Sequence[Event]) -> Work:
    dearest = sorted(kernels, key=lambda kernel: -float(kernel["dur"]))
    names = [str(kernel["name"]) for kernel in dearest]
    owner = _owner(chain)
    call = Operation(names[0]) if owner is None else read_operation(owner)
    ms = sum(float(kernel["dur"]) for kernel in kernels) / MICRO
    kind, optimizer = _kind(call, names), _optimizer(chain)
    if optimizer and kind not in {Kind.COPIES, Kind.COLLECTIVES}:
        kind = Kind.OPTIMIZER
    precision = _precision(call, names) if kind in PRECISE else ""
    layout = _layout(call, names) if kind is Kind.CONVOLUTION else ""
    return Work(kind, call, ms, len(kernels), precision, layout, optimizer)


def _optimizer(chain: Sequence[Event]) -> str:
    names = (str(event["name"]) for event in chain if event.get("cat") == "user_annotation")
    found = next((name for name in names if name.startswith(_OPTIMIZER)), "")
    return found.removeprefix(_OPTIMIZER).partition(".")[0]


def _kind(call: Operation, names: Sequence[str]) -> Kind:
    """By the operation where that is counted, else by the dearest of its kernels."""
    return _BY_OPERATION.get(call.name) or _by_kernel(names[0], call)


def _by_kernel(name: str, call: Operation) -> Kind:
    found = next((kind for kind, words in _BY_KERNEL if words.search(name)), None)
    if found is not None:
        return found
    return Kind.POINTWISE if call.name.startswith("aten::") else Kind.OTHER


def _layout(call: Operation, names: Sequence[str]) -> str:
    images = call.tensor(1 if call.name == "aten::convolution_backward" else 0)
    if images is None:
        return "channels-last" if any(map(_NHWC.search, names)) else "channels-first"
    return "channels-last" if images.channels_last else "channels-first"


def _precision(call: Operation, names: Sequence[str]) -> str:
    named = FRACTIONS.get(call.dtype)
    if named is None:
        told = (kind for kind, words in _HALF if any(map(words.search, names)))
        return next(told, "unknown precision")
    if named != "float32":
        return named
    return "TF32" if any(map(_TF32.search, names)) else "float32 (no TF32)"
