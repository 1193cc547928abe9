"""FLEET.toml: which targets to measure, in which arms, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from math import inf
from pathlib import Path
from typing import Any, Final

from tclint.config_keys import nearest
from tclint.config_verify import PHASES
from tclint.errors import UserError
from tclint.files import read_text
from tclint.gone import FLEET_KEYS, gone
from tclint.records import record
from tclint.source.errors import reason
from tclint.toml_text import parse_toml
from tclint.verify.arms import MODES

DEVICES: Final = ("cpu", "cuda")
SOURCES: Final = ("factory", "factories", "registry")
_GIB: Final = 1024**3


class FleetError(UserError):
    """A fleet that cannot be run as it is written; the message names the place."""


@record(frozen=True)
class Arm:
    """One way to run every target: ``python`` is another interpreter, ``revision`` another tree."""

    name: str
    fixed: bool = False
    unsafe_fixes: bool = False
    revision: str = ""
    python: str = ""


@record(frozen=True)
class Source:
    """Where targets come from; exactly one of the first three says it.

    ``only`` and ``without`` are patterns of the names to take and to leave out.
    """

    factory: str = ""
    factories: str = ""
    registry: str = ""
    name: str = ""
    phase: str = "forward"
    inputs: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


@record(frozen=True)
class Measures:
    """What to measure of each unit besides breaks, recompiles and results, and within what.

    ``memory_limit`` is in bytes; 0 sets none.
    """

    backend: str = "eager"
    modes: tuple[str, ...] = ("default",)
    speed: bool = False
    export: bool = False
    device: str = "cpu"
    time_limit: float = 600.0
    memory_limit: int = 0


@record(frozen=True)
class Fleet:
    """All that FLEET.toml says; ``root`` is the folder that it lies in.

    ``files`` are patterns of files that results depend on besides the Python files of a target.
    """

    root: Path
    store: Path
    jobs: int
    sources: tuple[Source, ...]
    arms: tuple[Arm, ...]
    measures: Measures = field(default_factory=Measures)
    files: tuple[str, ...] = ()


def read_fleet(path: Path) -> Fleet:
    """Read FLEET.toml.

    Raises:
        FleetError: it cannot be read, or says something that it must not.
    """
    try:
        data = parse_toml(read_text(path))
    except OSError as error:
        raise FleetError(f"cannot read {path}: {reason(error)}") from error
    except UnicodeError as error:
        raise FleetError(f"cannot read {path}: {error}") from error
    except ValueError as error:
        raise FleetError(f"{path}: {error}") from error
    return _Reader(path).fleet(data)


class _Reader:
    """Reads tables; each error names the file, the table and the key."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def fleet(self, data: Mapping[str, Any]) -> Fleet:
        known = ("fleet", "target", "arm")
        self._known(data, known, "the file")
        values = self._table(data.get("fleet", {}), _FLEET, "[fleet]")
        root = self._path.resolve().parent
        sources = tuple(self._source(*one) for one in self._tables(data, "target"))
        if not sources:
            raise FleetError(f"{self._path}: there is no [[target]]")
        arms = tuple(self._arm(*one) for one in self._tables(data, "arm"))
        self._distinct([arm.name for arm in arms], "[[arm]]")
        store, jobs = values.pop("store", "fleet.sqlite"), values.pop("jobs", 0)
        files = values.pop("files", ())
        if "memory_limit" in values:
            values["memory_limit"] = int(values["memory_limit"] * _GIB)
        return Fleet(
            root, root / store, jobs, sources, arms or (Arm("as found"),), Measures(**values), files
        )

    def _source(self, values: Any, where: str) -> Source:
        read = self._table(values, _SOURCE, where)
        said = [name for name in SOURCES if name in read]
        if len(said) != 1:
            listed = ", ".join(SOURCES)
            raise FleetError(f"{self._path}: {where}: needs exactly one of {listed}")
        return Source(**read)

    def _arm(self, values: Any, where: str) -> Arm:
        read = self._table(values, _ARM, where)
        if "name" not in read:
            raise FleetError(f"{self._path}: {where}: has no name")
        if read.get("unsafe_fixes") and not read.get("fixed"):
            raise FleetError(f"{self._path}: {where}: unsafe-fixes needs fixed = true")
        return Arm(**read)

    def _tables(self, data: Mapping[str, Any], name: str) -> list[tuple[Any, str]]:
        tables = data.get(name, [])
        if not isinstance(tables, list):
            raise FleetError(f"{self._path}: {name}: write [[{name}]], with two brackets")
        return [(table, f"[[{name}]] {number}") for number, table in enumerate(tables, start=1)]

    def _table(self, values: Any, shape: Mapping[str, _Check], where: str) -> dict[str, Any]:
        if not isinstance(values, dict):
            raise FleetError(f"{self._path}: {where}: expected a table")
        self._known(values, shape, where)
        read = {}
        for key, value in values.items():
            try:
                read[key.replace("-", "_")] = shape[key](value)
            except ValueError as error:
                raise FleetError(f"{self._path}: {where}: {key}: {error}") from None
        return read

    def _known(self, values: Mapping[str, Any], known: Sequence[str] | _Shape, where: str) -> None:
        for key in values:
            if key not in known:
                hint = gone(key, FLEET_KEYS) or nearest(key, known)
                raise FleetError(f"{self._path}: {where}: unknown key {key!r}{hint}")

    def _distinct(self, names: Sequence[str], where: str) -> None:
        for name in names:
            if names.count(name) > 1:
                raise FleetError(f"{self._path}: {where}: two are called {name!r}")


_Check = Callable[[Any], Any]
_Shape = Mapping[str, _Check]


def _string(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"expected a string, got {value!r}")
    return value


def _strings(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"expected a list of strings, got {value!r}")
    return tuple(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, got {value!r}")
    return value


def _one_of(choices: Sequence[str]) -> _Check:
    def check(value: Any) -> str:
        if value not in choices:
            hint = nearest(value, choices) if isinstance(value, str) else ""
            raise ValueError(f"{value!r} is not one of {', '.join(choices)}{hint}")
        return str(value)

    return check


def _modes(value: Any) -> tuple[str, ...]:
    modes = _strings(value)
    if not modes:
        raise ValueError("expected at least one mode")
    return tuple(_one_of(MODES)(mode) for mode in modes)


def _number(least: float) -> _Check:
    def check(value: Any) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not least <= value < inf:
            raise ValueError(f"expected a number, at least {least:g}, got {value!r}")
        return float(value)

    return check


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"expected a whole number, at least 1, got {value!r}")
    return value


_FLEET: Final[_Shape] = {
    "store": _string,
    "jobs": _count,
    "files": _strings,
    "backend": _string,
    "modes": _modes,
    "speed": _flag,
    "export": _flag,
    "device": _one_of(DEVICES),
    "time-limit": _number(1),
    "memory-limit": _number(0),
}
_SOURCE: Final[_Shape] = {
    "factory": _string,
    "factories": _string,
    "registry": _string,
    "name": _string,
    "phase": _one_of(PHASES),
    "inputs": _strings,
    "only": _strings,
    "without": _strings,
}
_ARM: Final[_Shape] = {
    "name": _string,
    "fixed": _flag,
    "unsafe-fixes": _flag,
    "revision": _string,
    "python": _string,
}
