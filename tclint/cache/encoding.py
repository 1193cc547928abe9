"""Outcomes as JSON and back.

A record becomes the list of its fields, and is read back by their types. A checksum keeps out what
was damaged, not what somebody made up: what is read here may be untrue, as whatever lies in a
folder that others write to; but it has the form of what was written, so that no report and no fix
stumbles over it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Any, Final, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

from tclint.diagnostics import Position
from tclint.lint.outcome import Outcome
from tclint.lint.repair import PlacedRepair

Json = Any
Reader = Callable[[Json], Any]
_LAST: Final = 10**9
"""No file has so many rows, and no row so many columns."""


def encoded(value: Any) -> Json:
    """A record, or what one consists of."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, (list, tuple)):
        return [encoded(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, dict):
        return {name: encoded(item) for name, item in value.items()}
    return [encoded(getattr(value, field.name)) for field in fields(value)]


class Decoder:
    """Reads the outcomes of one run."""

    def __init__(self, paths: Mapping[str, Path]) -> None:
        """``paths`` are the files of the run by their names: findings are in no others."""
        self._paths = paths
        self._readers: dict[Any, Reader] = {
            str: _text,
            bool: _flag,
            int: _number,
            Path: self._path,
        }

    def outcome(self, data: Json) -> Outcome:
        """What :func:`encoded` took.

        Raises:
            ValueError: it never was an outcome, or one of a run over other files.
        """
        found: Outcome = self._reader(Outcome)(data)
        return found

    def _path(self, data: Json) -> Path:
        path = self._paths.get(_text(data))
        return _refuse(data) if path is None else path

    def _reader(self, kind: Any) -> Reader:
        """What reads a value of a type."""
        if kind not in self._readers:
            self._readers[kind] = self._made(kind)
        return self._readers[kind]

    def _made(self, kind: Any) -> Reader:
        origin, inner = get_origin(kind), get_args(kind)
        if origin in (Union, UnionType):
            [present] = [other for other in inner if other is not type(None)]
            return _optional(self._reader(present))
        if origin is Literal:
            return lambda data: data if data in inner else _refuse(data)
        if origin is tuple and inner[-1] is not Ellipsis:
            return _row(lambda *cells: cells, [*map(self._reader, inner)])
        if origin in (list, tuple):
            return _rows(origin, self._reader(inner[0]))
        if origin is not None:
            return _mapping(self._reader(inner[1]))
        if issubclass(kind, Enum):
            return lambda data: kind(_text(data))
        read = _row(kind, [*map(self._reader, get_type_hints(kind).values())])
        return _also(_CHECKS[kind], read) if kind in _CHECKS else read


def _row(make: Callable[..., object], readers: Sequence[Reader]) -> Reader:
    def read(data: Json) -> object:
        if type(data) is not list or len(data) != len(readers):
            _refuse(data)
        return make(*[reader(cell) for reader, cell in zip(readers, data, strict=True)])

    return read


def _rows(make: Callable[..., object], reader: Reader) -> Reader:
    def read(data: Json) -> object:
        return make([reader(item) for item in data]) if type(data) is list else _refuse(data)

    return read


def _mapping(reader: Reader) -> Reader:
    def read(data: Json) -> object:
        if type(data) is not dict:
            _refuse(data)
        return {name: reader(item) for name, item in data.items()}

    return read


def _optional(reader: Reader) -> Reader:
    return lambda data: None if data is None else reader(data)


def _text(data: Json) -> str:
    if type(data) is not str:
        _refuse(data)
    if not data.isascii():
        os.fsencode(data)  # it may tell the name of a file, or be one
    return data


def _flag(data: Json) -> bool:
    return data if type(data) is bool else _refuse(data)


def _number(data: Json) -> int:
    return data if type(data) is int and 0 <= data <= _LAST else _refuse(data)


def _also(check: Callable[[Json], object], read: Reader) -> Reader:
    def checked(data: Json) -> object:
        value = read(data)
        check(data)
        return value

    return checked


def _is_in_a_file(position: Json) -> None:
    row, _ = position
    if not row:
        _refuse(position)


def _is_code(repair: Json) -> None:
    """Templates and names of modules become text that a file of Python can hold."""
    json.dumps(repair, ensure_ascii=False).encode()


_CHECKS: Final[dict[type, Callable[[Json], object]]] = {
    Position: _is_in_a_file,
    PlacedRepair: _is_code,
}
"""What the types of some records' fields do not say."""


def _refuse(data: Json) -> NoReturn:
    raise ValueError(f"nothing that was written: {data!r:.100}")
