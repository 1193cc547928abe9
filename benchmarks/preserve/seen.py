"""What a caller can tell about a value, as plain text that two runs can be compared by."""

from __future__ import annotations

import re
import types
import zlib
from typing import Any

import numpy as np
import torch

_ADDRESS = re.compile(r"0x[0-9a-f]+")
# Torch's words for an argument that it refuses name the function and all that it might take.
_REFUSED = re.compile(r"received an invalid combination of arguments|argument '\w+'.* must be")
_DEEPEST = 5
_LISTED = 64
"""How many elements of a tensor are told one by one; more are told by their bytes."""


def frozen(value: object, depth: int = 0) -> Any:
    """Nested tuples of text: types and values to the bit, but for what NaN carries."""
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return (type(value).__name__, str(value.dtype), value.shape, repr(value.tolist()))
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return (type(value).__name__, _ADDRESS.sub("0x", repr(value)))
    if isinstance(value, BaseException):
        refused = isinstance(value, TypeError) and _REFUSED.search(str(value))
        return ("raised", type(value).__name__, "" if refused else _ADDRESS.sub("0x", str(value)))
    if depth > _DEEPEST:
        return (type(value).__name__,)
    if isinstance(value, dict):
        pairs = ((frozen(k, depth + 1), frozen(v, depth + 1)) for k, v in value.items())
        return (type(value).__name__, *pairs)
    if isinstance(value, (list, tuple, set, frozenset)):
        return (type(value).__name__, *(frozen(one, depth + 1) for one in value))
    if isinstance(value, (type, types.FunctionType, types.ModuleType, types.BuiltinFunctionType)):
        return (type(value).__name__, getattr(value, "__name__", ""))
    if isinstance(value, torch.nn.Module):
        return (type(value).__name__, *module_state(value, depth + 1))
    named = getattr(value, "__dict__", None)
    return (type(value).__name__, frozen(dict(named), depth + 1) if named else "")


def module_state(module: torch.nn.Module, depth: int = 0) -> tuple[Any, ...]:
    """Attributes of a module's own, its parameters and buffers, and its layers'."""
    own = {k: v for k, v in vars(module).items() if not k.startswith("_")}
    layers = vars(module).get("_modules", {})
    held = (vars(module).get("_parameters", {}), vars(module).get("_buffers", {}))
    return (
        frozen(own, depth),
        *(frozen(dict(one), depth) for one in held),
        *((name, frozen(layer, depth)) for name, layer in layers.items()),
    )


def _tensor(value: torch.Tensor) -> Any:
    kind = type(value).__name__
    facts = (
        str(value.dtype),
        str(value.device),
        tuple(value.shape),
        f"requires_grad={value.requires_grad}",
        f"inference={value.is_inference()}",
    )
    if value.is_meta or value.layout is not torch.strided:
        return (kind, *facts, str(value.layout))
    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
        return (kind, *facts, _elements(value.detach()))


def _elements(value: torch.Tensor) -> str:
    """All elements, to the bit but for what NaN carries."""
    if value.numel() <= _LISTED:
        return repr(value.tolist())
    if value.is_floating_point():
        value = torch.where(value.isnan(), value.new_full((), torch.nan), value)
    flat = value.cpu().resolve_conj().resolve_neg().contiguous().view(-1)
    return f"{flat[:4].tolist()} ... {zlib.crc32(flat.view(torch.uint8).numpy().tobytes())}"


def unlike(one: Any, other: Any, where: str = "") -> str | None:
    """The first place where two frozen values differ, in words; None where they agree."""
    if one == other:
        return None
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        if one and one[0] == other[0] == "raised":
            return f"{where}: {one[1]}: {one[2]!r} becomes {other[1]}: {other[2]!r}"
        for number, (a, b) in enumerate(zip(one, other, strict=True)):
            found = unlike(a, b, where)
            if found is not None and not (number == 0 and isinstance(a, str)):
                return found
    return f"{where}: {_short(one)} becomes {_short(other)}"


def _short(value: Any) -> str:
    if isinstance(value, tuple) and value and value[0] == "raised":
        return f"{value[1]}: {value[2]}"[:300]
    return str(value)[:300]
