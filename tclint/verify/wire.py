"""Records as JSON: what leaves a child, and what is read of it, whoever may have written that."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Record = TypeVar("Record")

LONGEST_TEXT = 5000
"""Characters of one text that a child sends: more than any path has."""

CLOSED = "user code closed or replaced the file in which its results are told"
"""The last words of a child that can no longer answer."""

_TAIL = 1000
_MARK = 50


class WireError(ValueError):
    """The data is not what a record of that type travels as; the message names the place."""


def plain(value: Any) -> Any:
    """A record, or what holds some, as JSON can hold it, with no text beyond all bounds."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return shortened(value) if isinstance(value, str) else value


def shortened(text: str, longest: int = LONGEST_TEXT) -> str:
    """The text, or where it is too long its two ends and how much lay between them."""
    if len(text) <= longest:
        return text
    tail = min(_TAIL, longest // 4)
    head = longest - tail - _MARK
    left_out = len(text) - head - tail
    return f"{text[:head]} [{left_out:,} characters left out] {text[-tail:]}"


def rebuild(kind: type[Record], data: Any) -> Record:
    """Make the record of type ``kind`` that ``plain`` made ``data`` of.

    Raises:
        WireError: it made no such thing.
    """
    return _record(kind, data, kind.__name__)


def _record(kind: type[Record], data: Any, where: str) -> Record:
    if not isinstance(data, dict):
        raise WireError(f"{where} is not an object")
    hints = get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for name in data:
        if name not in fields:
            raise WireError(f"{where} has no {shortened(str(name), 100)!r}")
    for name, field in fields.items():
        given = (field.default, field.default_factory) != (dataclasses.MISSING,) * 2
        if name not in data and not given:
            raise WireError(f"{where} lacks {name!r}")
    return kind(
        **{name: _value(hints[name], part, f"{where}.{name}") for name, part in data.items()}
    )


def _value(hint: Any, value: Any, where: str) -> Any:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in {Union, types.UnionType}:
        (only,) = (part for part in inner if part is not types.NoneType)
        return None if value is None else _value(only, value, where)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _record(hint, value, where)
    if origin is tuple and isinstance(value, list):
        if inner[-1] is not Ellipsis and len(value) != len(inner):
            raise WireError(f"{where} has {len(value)} parts, not {len(inner)}")
        kinds = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        pairs = enumerate(zip(kinds, value, strict=True))
        return tuple(_value(kind, item, f"{where}[{n}]") for n, (kind, item) in pairs)
    if origin is dict and isinstance(value, dict):
        return {key: _value(inner[1], item, f"{where}[{key!r}]") for key, item in value.items()}
    if hint is float and type(value) in {int, float}:
        return float(value)
    if hint is Any or type(value) is hint:
        return value
    raise WireError(f"{where} is no {getattr(hint, '__name__', hint)}")
