"""Operations in a profiler's trace: their tensors, their arithmetic, and the bytes they move.

The profiler notes the sizes, the strides and the types of what an operation is given. What it
gives back is worked out here where it matters: for matrix products, convolutions and attention.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tclint.json_text import parse_json
from tclint.records import record
from tclint.run.spans import Event

_BYTES: Mapping[str, int] = {
    "double": 8,
    "long int": 8,
    "long": 8,
    "float": 4,
    "int": 4,
    "c10::BFloat16": 2,
    "c10::Half": 2,
    "short": 2,
    "signed char": 1,
    "unsigned char": 1,
    "bool": 1,
    "c10::Float8_e4m3fn": 1,
    "c10::Float8_e5m2": 1,
}
"""The bytes of an element, by the name that the profiler gives to its type."""
_UNNAMED = 4
"""Those of an element in a list of tensors, whose types are not told."""


@record(frozen=True)
class Tensor:
    """A tensor that an operation was given."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str

    @property
    def elements(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)

    @property
    def size(self) -> int:
        """Bytes of memory behind it: what is expanded is there once."""
        held = [n for n, step in zip(self.shape, self.strides, strict=False) if step]
        count = math.prod(held) if len(self.strides) == len(self.shape) else self.elements
        return count * _BYTES.get(self.dtype, _UNNAMED)

    @property
    def channels_last(self) -> bool:
        """Whether images lie in memory with all channels of a pixel side by side."""
        images = len(self.shape) in {4, 5} and len(self.strides) == len(self.shape)
        return images and self.shape[1] > 1 and self.strides[1] == 1


@record(frozen=True)
class Operation:
    """A call of an operation: each argument's tensors (none, one or a list) and its value."""

    name: str
    arguments: tuple[tuple[Tensor, ...], ...] = ()
    values: tuple[str, ...] = ()

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All tensors that it was given."""
        return tuple(tensor for argument in self.arguments for tensor in argument)

    def tensor(self, at: int) -> Tensor | None:
        """The tensor at a position; None where there is not exactly one."""
        here = self.arguments[at] if at < len(self.arguments) else ()
        return here[0] if len(here) == 1 else None

    def numbers(self, at: int) -> tuple[int, ...]:
        """The list of numbers at a position; empty where there is none."""
        text = self.values[at] if at < len(self.values) else ""
        try:
            found = parse_json(text) if text.startswith("[") else None
        except ValueError:
            return ()
        return _integers(found)

    def is_true(self, at: int) -> bool:
        """Whether the value at a position is true."""
        return at < len(self.values) and self.values[at] == "True"

    @property
    def dtype(self) -> str:
        """The type of the first tensor with numbers that have a fraction."""
        names = (tensor.dtype for tensor in self.tensors)
        return next((name for name in names if name in FRACTIONS), "")


FRACTIONS: Mapping[str, str] = {
    "double": "float64",
    "float": "float32",
    "c10::BFloat16": "bfloat16",
    "c10::Half": "float16",
    "c10::Float8_e4m3fn": "float8",
    "c10::Float8_e5m2": "float8",
}
"""Torch's names of the types that hold fractions, by the profiler's."""


def read_operation(event: Event) -> Operation:
    """What a span of the trace tells of an operation; whatever is odd in it is left out."""
    about = event.get("args", {})
    values = about.get("Concrete Inputs")
    texts = [str(one) for one in values] if isinstance(values, list) else []
    return Operation(str(event["name"]), tuple(_arguments(about)), tuple(texts))


def _arguments(about: Mapping[str, Any]) -> Iterator[tuple[Tensor, ...]]:
    shapes, types = about.get("Input Dims"), about.get("Input type")
    steps = about.get("Input Strides")
    if not isinstance(shapes, list) or not isinstance(types, list):
        return
    strides = steps if isinstance(steps, list) else []
    for at, (shape, kind) in enumerate(zip(shapes, types, strict=False)):
        step = strides[at] if at < len(strides) else []
        yield tuple(_tensors(shape, step, kind))


def _tensors(shape: Any, step: Any, kind: Any) -> Iterator[Tensor]:
    """One tensor, those of a list, or none: a number has a shape that is empty as well."""
    if not isinstance(shape, list):
        return
    if any(isinstance(one, list) for one in shape):
        steps = step if isinstance(step, list) and len(step) == len(shape) else [[]] * len(shape)
        kinds = kind if isinstance(kind, list) and len(kind) == len(shape) else [""] * len(shape)
        for one, each, its in zip(shape, steps, kinds, strict=True):
            yield Tensor(_integers(one), _integers(each), str(its))
    elif isinstance(kind, str) and kind in _BYTES:
        yield Tensor(_integers(shape), _integers(step), kind)


def _integers(found: Any) -> tuple[int, ...]:
    whole = isinstance(found, list) and all(type(one) is int and one >= 0 for one in found)
    return tuple(found) if whole else ()


# What follows is arithmetic: floating-point operations, a multiplication and an addition are two.


def _product(one: Tensor | None, other: Tensor | None) -> float:
    """Of a matrix, or one for each of a batch, with another."""
    if one is None or other is None or not one.shape or not other.shape:
        return 0.0
    columns = other.shape[-1] if len(other.shape) > 1 else 1
    return 2.0 * one.elements * columns


def _convolution(call: Operation) -> float:
    """Of ``aten::convolution(input, weight, bias, stride, padding, dilation, transposed, ...)``."""
    images, weight = call.tensor(0), call.tensor(1)
    if images is None or weight is None or len(weight.shape) != len(images.shape):
        return 0.0
    each = 2.0 * math.prod(weight.shape[1:])
    if call.is_true(6):
        return each * images.elements
    return each * images.shape[0] * weight.shape[0] * math.prod(_outputs(call, images, weight))


def _outputs(call: Operation, images: Tensor, weight: Tensor) -> Iterator[int]:
    spatial = len(images.shape) - 2
    told = [call.numbers(at) for at in (3, 4, 5)]
    stride, padding, dilation = (one * spatial if len(one) == 1 else one for one in told)
    for n in range(spatial):
        step = stride[n] if n < len(stride) else 1
        around = padding[n] if n < len(padding) else 0
        apart = dilation[n] if n < len(dilation) else 1
        reach = apart * (weight.shape[2 + n] - 1) + 1
        yield max(0, (images.shape[2 + n] + 2 * around - reach) // max(1, step) + 1)


def _convolution_backward(call: Operation) -> float:
    """Of ``aten::convolution_backward``: as much for the images' gradient as for the weight's."""
    gradient, images, weight = (call.tensor(at) for at in (0, 1, 2))
    if gradient is None or images is None or weight is None:
        return 0.0
    wanted = call.values[10].split(",")[:2] if len(call.values) > 10 else []
    both = sum("True" in one for one in wanted) or 2
    turned = call.is_true(7)
    return both * 2.0 * math.prod(weight.shape[1:]) * (images if turned else gradient).elements


def _attention(first: int, causal: int, products: float) -> Callable[[Operation], float]:
    """Of attention whose query is at ``first``: two products forward, five with a gradient."""

    def count(call: Operation) -> float:
        query, key, value = (call.tensor(first + n) for n in range(3))
        if query is None or key is None or value is None or len(key.shape) < 2:
            return 0.0
        half = 0.5 if call.is_true(causal) else 1.0
        return products * 2.0 * query.elements * key.shape[-2] * half

    return count


MATMULS: Mapping[str, Callable[[Operation], float]] = {
    "aten::mm": lambda call: _product(call.tensor(0), call.tensor(1)),
    "aten::bmm": lambda call: _product(call.tensor(0), call.tensor(1)),
    "aten::mv": lambda call: _product(call.tensor(0), call.tensor(1)),
    "aten::dot": lambda call: _product(call.tensor(0), call.tensor(1)),
    "aten::_scaled_mm": lambda call: _product(call.tensor(0), call.tensor(1)),
    "aten::_int_mm": lambda call: _product(call.tensor(0), call.tensor(1)),
    "aten::addmm": lambda call: _product(call.tensor(1), call.tensor(2)),
    "aten::addmm_": lambda call: _product(call.tensor(1), call.tensor(2)),
    "aten::addmv": lambda call: _product(call.tensor(1), call.tensor(2)),
    "aten::addbmm": lambda call: _product(call.tensor(1), call.tensor(2)),
    "aten::baddbmm": lambda call: _product(call.tensor(1), call.tensor(2)),
    "aten::baddbmm_": lambda call: _product(call.tensor(1), call.tensor(2)),
    "aten::_addmm_activation": lambda call: _product(call.tensor(1), call.tensor(2)),
}
CONVOLUTIONS: Mapping[str, Callable[[Operation], float]] = {
    "aten::convolution": _convolution,
    "aten::convolution_backward": _convolution_backward,
}
_FLASH = "aten::_scaled_dot_product_flash_attention"
_EFFICIENT = "aten::_scaled_dot_product_efficient_attention"
_CUDNN = "aten::_scaled_dot_product_cudnn_attention"
ATTENTION: Mapping[str, Callable[[Operation], float]] = {
    _FLASH: _attention(0, 4, 2),
    _EFFICIENT: _attention(0, 6, 2),
    _CUDNN: _attention(0, 6, 2),
    f"{_FLASH}_backward": _attention(1, 11, 5),
    f"{_EFFICIENT}_backward": _attention(1, 11, 5),
    f"{_CUDNN}_backward": _attention(1, 14, 5),
}
HEAVY: Mapping[str, Callable[[Operation], float]] = {**MATMULS, **CONVOLUTIONS, **ATTENTION}
"""Operations in which the arithmetic is, each with its count."""


def arithmetic(call: Operation) -> float:
    """Floating-point operations of a call; 0 where it is none of those that are counted."""
    count = HEAVY.get(call.name)
    return count(call) if count is not None else 0.0


def result_shape(call: Operation) -> tuple[int, ...]:
    """The shape of what a matrix product gives; empty for all else."""
    given = [tensor for tensor in call.tensors if len(tensor.shape) > 1]
    if call.name not in MATMULS or len(given) < 2:
        return ()
    one, other = given[-2:]
    return (*one.shape[:-1], other.shape[-1])


def least_bytes(call: Operation) -> float:
    """Bytes that a call must move: what it is given, and what it gives back where that is known.

    A call that is not counted gives back as much as the largest tensor that it was given.
    """
    given = call.tensors
    read = float(sum(tensor.size for tensor in given))
    if call.name in MATMULS:
        width = _BYTES.get(call.dtype and given[-1].dtype, _UNNAMED)
        return read + math.prod(result_shape(call)) * width
    if call.name in HEAVY:
        return read + _largest(given[:1])
    return read + _largest(given)


def _largest(given: Sequence[Tensor]) -> float:
    return float(max((tensor.size for tensor in given), default=0))
