"""Freeze what a call returned, so that it can be kept, sent and compared (child process only)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import torch

from tclint.records import record
from tclint.verify.errors import TargetError
from tclint.verify.measure import settle

_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_DEEPEST = 32


@record(frozen=True)
class TensorLeaf:
    """One tensor: its values on the CPU, and what else a caller can tell about it."""

    values: torch.Tensor
    device: str
    requires_grad: bool


@record(frozen=True)
class Plain:
    """A value that compares by itself."""

    value: Any


@record(frozen=True)
class Opaque:
    """An object of which only the type can be compared."""

    kind: str


@record(frozen=True)
class Nest:
    """A container or dataclass: its type, and its parts by key."""

    kind: str
    parts: tuple[tuple[Any, Snapshot], ...]


@record(frozen=True)
class Raised:
    """The exception that a call ended in."""

    kind: str
    message: str


Snapshot = TensorLeaf | Plain | Opaque | Nest | Raised


def take(value: object, depth: int = 0) -> Snapshot:
    """Copy ``value``; later in-place changes do not reach the copy."""
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, _PLAIN):
        return Plain(value)
    if depth > _DEEPEST:
        return Opaque(_kind(value))
    if isinstance(value, Mapping):
        return _nest(value, value.items(), depth)
    if isinstance(value, list | tuple):
        return _nest(value, enumerate(value), depth)
    if dataclasses.is_dataclass(value):
        fields = [(f.name, getattr(value, f.name, None)) for f in dataclasses.fields(value)]
        return _nest(value, fields, depth)
    if type(value).__module__ == "numpy":
        return _array(value)
    return Opaque(_kind(value))


def outcome(call: Callable[[], object]) -> Snapshot:
    """Run ``call`` and freeze what it returns, or the exception that it raises."""
    try:
        result = take(call())
        settle()
    except Exception as error:
        # A user's exception is a result to compare; a full memory says nothing about the code, a
        # broken contract belongs to the factory, and a GPU that is lost fails whatever comes next.
        if out_of_memory(error) or isinstance(error, TargetError) or device_lost(error):
            raise
        return Raised(_kind(error), str(error))
    return result


def out_of_memory(error: BaseException) -> bool:
    """True for Python's, the CPU allocator's and CUDA's ways of saying so."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)


def device_lost(error: BaseException) -> bool:
    """True when CUDA can do nothing more in this process, as after a device-side assertion."""
    if not isinstance(error, RuntimeError) or "CUDA error" not in str(error):
        return False
    try:
        settle()
    except RuntimeError:
        return True
    return False


def _tensor(value: torch.Tensor) -> Snapshot:
    try:
        dense = value.detach()
        if hasattr(dense, "to_local"):
            # A distributed tensor: what this rank holds of it.
            dense = dense.to_local()
        if dense.layout is not torch.strided:
            dense = dense.to_dense()
        # ``+ 0``-free copy: clone keeps dtype, and resolves conjugate and negative views.
        values = dense.resolve_conj().resolve_neg().to("cpu", copy=True).contiguous()
    except (RuntimeError, NotImplementedError) as error:
        if device_lost(error):
            raise
        return Opaque(_kind(value))
    return TensorLeaf(values, value.device.type, value.requires_grad)


def _array(value: object) -> Snapshot:
    # Scalars and arrays of numpy alike; object arrays have no tensor form.
    try:
        return Nest(_kind(value), ((0, _tensor(torch.as_tensor(value))),))
    except (TypeError, ValueError, RuntimeError):
        return Opaque(_kind(value))


def _nest(value: object, items: Any, depth: int) -> Snapshot:
    parts = tuple((_key(key), take(part, depth + 1)) for key, part in items)
    return Nest(_kind(value), parts)


def _key(key: object) -> object:
    return key if isinstance(key, _PLAIN) else repr(key)


def _kind(value: object) -> str:
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}"
