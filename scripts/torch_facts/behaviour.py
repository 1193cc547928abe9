"""What calls with one tensor give: rank and dtype, found by calling torch on samples."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterable

import torch
from torch import Tensor

FAILURES = (
    TypeError,
    RuntimeError,
    ValueError,
    IndexError,
    AttributeError,
    AssertionError,
    ZeroDivisionError,
    KeyError,
    torch.linalg.LinAlgError,
)
DTYPES = (torch.float32, torch.float64, torch.int32, torch.bool)
CONSTANT_RANKS = {0: "zero", 1: "one", 2: "two"}

# Called with a tensor these would read it as a size, touch other state, or change layout.
_NOT_CALLED = """
    backward cuda empty eye from_file full hpu ipu mtia ones pin_memory rand randint randn
    randperm record_stream resize_ resize_as_ set_ share_memory_ to_mkldnn xpu zeros
    empty_permuted empty_quantized empty_strided hamming_window hann_window bartlett_window
    blackman_window kaiser_window arange range linspace logspace normal tril_indices
    triu_indices to type new
"""
NOT_CALLED = frozenset(_NOT_CALLED.split())

Operation = Callable[..., object]


def operations(methods: Iterable[str], functions: Iterable[str]) -> dict[str, Operation]:
    """The callables worth probing: methods by bare name, functions by dotted name."""
    found: dict[str, Operation] = {}
    for name in methods:
        if not name.startswith("_") and name not in NOT_CALLED and hasattr(Tensor, name):
            found[name] = getattr(Tensor, name)
    for dotted in functions:
        module, _, name = dotted.rpartition(".")
        operation = getattr(importlib.import_module(module), name, None)
        if callable(operation) and name not in NOT_CALLED and not name.startswith("_"):
            found[dotted] = operation
    return found


SHAPES = ((), (4,), (4, 4), (3, 4, 4), (1, 4, 4))
LAYER_SHAPES = (*SHAPES, (4, 4, 4, 4), (2, 4, 4, 4), (4, 4, 4, 4, 4))
WORKED_ON = ((4, 4), (3, 4, 4), (4, 4, 4, 4), (4, 4, 4, 4, 4))

Shapes = tuple[tuple[int, ...], ...]


def unary(operation: Operation, shapes: Shapes = SHAPES) -> str | None:
    """``"rank dtype"`` of the call with one tensor, None when no such call works."""
    ranks = _ranks(operation, torch.float32, shapes) or _ranks(operation, torch.int64, shapes)
    rank = _rank_rule(ranks)
    if rank is None:
        return None
    rule = _dtype_rule(_dtypes(operation, shapes))
    if rule == "float" and _gives_complex(operation, shapes):
        rule = "inexact"
    return f"{rank} {rule}"


def _gives_complex(operation: Operation, shapes: Shapes) -> bool:
    made = (_call(operation, _sample(s, torch.complex64)) for s in WORKED_ON if s in shapes)
    return any(result is not None and result.is_complex() for result in made)


def _dtypes(operation: Operation, shapes: Shapes) -> dict[torch.dtype, torch.dtype]:
    for shape in WORKED_ON:
        if shape in shapes:
            results = {d: _call(operation, _sample(shape, d)) for d in DTYPES}
            found = {d: r.dtype for d, r in results.items() if r is not None}
            if found:
                return found
    return {}


def _ranks(operation: Operation, dtype: torch.dtype, shapes: Shapes) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for shape in shapes:
        result = _call(operation, _sample(shape, dtype))
        if result is not None:
            found.setdefault(len(shape), set()).add(result.dim())
    return found


def _rank_rule(ranks: dict[int, set[int]]) -> str | None:
    if not ranks:
        return None
    results = set().union(*ranks.values())
    shifts = {after - before for before, many in ranks.items() for after in many}
    if shifts == {0}:
        return "same"
    if len(results) == 1:
        return CONSTANT_RANKS.get(min(results), "varies")
    return f"{min(shifts):+d}" if len(shifts) == 1 else "varies"


def _dtype_rule(dtypes: dict[torch.dtype, torch.dtype]) -> str:
    if not dtypes:
        return "varies"
    if all(before == after for before, after in dtypes.items()):
        return "same"
    if len(set(dtypes.values())) == 1 and len(dtypes) > 1:
        return _name(next(iter(dtypes.values())))
    floats = all(dtypes[d] == d for d in (torch.float32, torch.float64) if d in dtypes)
    others = {after for before, after in dtypes.items() if not before.is_floating_point}
    if floats and others == {torch.float32}:
        return "float"
    return "sum" if floats and others == {torch.int64} else "varies"


def _sample(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    size = max(1, torch.Size(shape).numel())
    values = torch.arange(1, size + 1).reshape(shape)
    if len(shape) >= 2 and shape[-1] == shape[-2]:
        values = torch.eye(shape[-1]).expand(shape) * 2
    return values.to(dtype).clone()


def _call(operation: Operation, *arguments: Tensor) -> Tensor | None:
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = operation(*arguments)
        except FAILURES:
            return None
    plain = isinstance(result, Tensor) and result.layout == torch.strided
    return result if plain else None


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
