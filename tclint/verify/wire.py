"""Rebuild frozen records from the JSON that they travelled as."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Record = TypeVar("Record")


def rebuild(kind: type[Record], data: Mapping[str, Any]) -> Record:
    """Make the record of type ``kind`` that ``dataclasses.asdict`` made ``data`` of."""
    hints = get_type_hints(kind)
    return kind(**{name: _value(hints[name], value) for name, value in data.items()})


def _value(hint: Any, value: Any) -> Any:
    if value is None:
        return None
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return rebuild(hint, value)
    origin, inner = get_origin(hint), get_args(hint)
    if origin in {Union, types.UnionType}:
        (only,) = (part for part in inner if part is not type(None))
        return _value(only, value)
    if origin is tuple:
        return tuple(_value(inner[0], item) for item in value)
    return value
