"""Abstract values in words, for people who ask what the analysis believes."""

from __future__ import annotations

from typing import Final

from tclint.regexes import regex
from tclint.semantics.values import (
    NONE,
    SYMINT,
    BoundExternal,
    Class,
    Compiled,
    DataScalar,
    DType,
    External,
    Function,
    Guess,
    Iteration,
    Mapping,
    NDArray,
    NumpyScalar,
    Object,
    Sequence,
    Static,
    Tensor,
    Union,
    Value,
)

MANY: Final = 4
RANGES: Final = {"range": "", "shape": " over a size", "data": " over a number read"}
_AUTOCAST: Final = regex(r"~(?:lowered@[^()]*|autocast_\w+)\((.*)\)")
_OUTSIDE: Final = " outside of autocast"
_OF_PARAMETER: Final = regex(r"~(\w+):[^:()|]*[^\d:()|][^:()|]*:\d+")


def readable(value: Value) -> str:
    """A value in a few words: ``tensor (rank 0, int64)``, ``float read from a tensor``."""
    match value:
        case Tensor():
            facts = ", ".join(_facts(value))
            return f"tensor ({facts})" if facts else "tensor"
        case Sequence() | Mapping() | Iteration():
            return _container(value)
        case Union(options=kinds):
            return " or ".join(dict.fromkeys(map(readable, kinds)))
        case Compiled(inner=inner):
            return f"compiled {readable(inner)}"
    return _plain(value)


def _facts(tensor: Tensor) -> list[str]:
    facts = [] if tensor.rank is None else [f"rank {tensor.rank}"]
    if tensor.dtype is not None:
        facts += filter(None, [_dtype(tensor.dtype)])
    if tensor.device is not None:
        facts.append(f"on {tensor.device}".replace("on like:", "on the device of "))
    facts += filter(None, [tensor.role, "random" if tensor.random else None])
    if tensor.from_compiled:
        facts.append("made by compiled code")
    if tensor.assumed:
        facts.append(f"assumed: {origin(tensor)}" if is_guess(tensor) else "assumed")
    return facts


def is_guess(tensor: Tensor) -> bool:
    """True for a parameter that is taken for a tensor because nothing says what it is."""
    return tensor.assumed and tensor.guess is not Guess.NONE


def origin(tensor: Tensor) -> str:
    """Where a tensor comes from, in words."""
    return f"{tensor.why}, used as one" if tensor.guess is Guess.USED_AS_ONE else tensor.why


def _dtype(dtype: DType) -> str | None:
    cast = _AUTOCAST.fullmatch(dtype.symbol)
    if cast is not None:
        inner = _dtype(DType(cast[1], dtype.category))
        return inner and f"{inner.removesuffix(_OUTSIDE)}{_OUTSIDE}"
    if dtype.concrete:
        return "default dtype" if dtype.symbol == "default" else dtype.symbol
    parameter = _OF_PARAMETER.fullmatch(dtype.symbol)
    if parameter is not None:
        return f"dtype of `{parameter[1]}`"
    return f"some {dtype.category} dtype" if dtype.category else None


def _container(value: Sequence | Mapping | Iteration) -> str:
    match value:
        case Sequence(type="Size"):
            return "sizes of a tensor"
        case Sequence(type=kind, items=None, element=element):
            return f"{kind} of {readable(element)}"
        case Sequence(type=kind, items=tuple() as items):
            return f"{kind} ({_listed([readable(item) for item in items])})"
        case Mapping(items=pairs, element=element):
            known = [f"{key!r}: {readable(item)}" for key, item in pairs]
            return f"dict ({_listed(known)})" if known else f"dict of {readable(element)}"
        case Iteration(source=source) if source in RANGES:
            return f"range{RANGES[source]}"
    return f"iterable of {readable(value.element)}"


def _listed(parts: list[str]) -> str:
    left_out = [f"{len(parts) - MANY} more"] if len(parts) > MANY else []
    return ", ".join([*parts[:MANY], *left_out]) or "empty"


def _plain(value: Value) -> str:
    if value is NONE:
        return "None"
    if value == SYMINT:
        return "size of a tensor"
    match value:
        case Static(known=True, value=constant):
            return f"constant {constant!r}"
        case Static(type=kind, default_off=off):
            return f"{kind or 'some'} constant{', off by default' if off else ''}"
        case DataScalar(type=kind):
            return f"{kind or 'number'} read from a tensor"
        case NDArray(from_tensor=copied):
            return "numpy array that shares a tensor" if copied else "numpy array"
        case NumpyScalar(type=kind):
            return f"numpy {kind or 'number'}"
        case Object(name=name, is_module=module):
            return f"{'module' if module else 'object of'} `{name}`"
        case Class(info=info):
            return f"class `{info.qualname}`"
        case Function(info=info):
            return f"{'method' if info.cls else 'function'} `{info.qualname}`"
        case External(name=name) | BoundExternal(name=name):
            return f"`{name.removeprefix('builtins.')}`"
    return "unknown"
