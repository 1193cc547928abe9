"""How a project lays out its code, as its settings for ruff, black and isort say."""

from __future__ import annotations

import configparser
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from tclint.files import read_text
from tclint.records import record
from tclint.toml_text import parse_toml

SECTIONS: Final = ("future", "stdlib", "thirdparty", "firstparty", "localfolder")
_RUFF_SECTIONS: Final = {
    "standard-library": "stdlib",
    "third-party": "thirdparty",
    "first-party": "firstparty",
    "local-folder": "localfolder",
}
_BLACK_LENGTH: Final = 88
_MARKS: Final = (".git", "pyproject.toml", "setup.py", "setup.cfg")


@record(frozen=True)
class ImportOrder:
    """The order of imports: ``known`` tells the section of packages, and of some by a pattern."""

    sections: tuple[str, ...] = SECTIONS
    default: str = "thirdparty"
    known: Mapping[str, str] = field(default_factory=dict)
    within_sections: bool = False
    no_lines_before: frozenset[str] = frozenset()


@record(frozen=True)
class ProjectStyle:
    """What is known of a project: ``line_length`` and the formatter count where they are set."""

    folder: Path | None = None
    line_length: int | None = None
    is_formatted: bool = False
    imports: ImportOrder = field(default_factory=ImportOrder)


def style_of(path: Path) -> ProjectStyle:
    """The style of the project that a file belongs to."""
    return _style_from(path.absolute().parent)


def section_of(module: str, level: int, path: Path) -> str:
    """The section of a file's imports that a module belongs to."""
    style = style_of(path)
    if level:
        return "localfolder"
    order, package = style.imports, module.partition(".")[0]
    for name in (module, package):
        if name in order.known:
            return order.known[name]
    if package == "__future__":
        return "future"
    if package in sys.stdlib_module_names:
        return "stdlib"
    root = style.folder or project_folder(path) or path.absolute().parent
    is_own = any(
        any((place / package).glob("*.py")) or (place / f"{package}.py").is_file()
        for place in (root, root / "src")
    )
    return "firstparty" if is_own else order.default


def project_folder(path: Path) -> Path | None:
    """The folder of the project that a file belongs to; None where nothing marks one."""
    return _marked(path.absolute().parent)


@lru_cache(maxsize=256)
def _marked(folder: Path) -> Path | None:
    for place in (folder, *folder.parents):
        if any((place / mark).exists() for mark in _MARKS):
            return place
    return None


@lru_cache(maxsize=256)
def _style_from(folder: Path) -> ProjectStyle:
    for place in (folder, *folder.parents):
        found = _style_in(place)
        if found is not None:
            return found
        if (place / ".git").exists():
            break
    return ProjectStyle()


def _style_in(folder: Path) -> ProjectStyle | None:
    """What the files of one folder say; None if they say nothing."""
    tables = [*_tables(folder)]
    if not tables:
        return None
    formatters = [table for tool, table in tables if _formats(tool, table)]
    is_formatted, order = bool(formatters), None
    # A linter only says how long lines may be; a formatter makes them as long as it is told.
    length = _length(formatters) or (_BLACK_LENGTH if formatters else None)
    length = length or _length([table for _, table in tables])
    for tool, table in tables:
        if tool == "isort":
            order = order or _of_isort(table)
        if tool == "ruff":
            settings = {**_dict(table, "isort"), **_dict(_dict(table, "lint"), "isort")}
            order = order or (_of_ruff(settings) if settings else None)
    return ProjectStyle(folder, length, is_formatted, order or ImportOrder())


def _formats(tool: str, table: Mapping[str, Any]) -> bool:
    return tool == "black" or (tool == "ruff" and "format" in table)


def _length(tables: Iterable[Mapping[str, Any]]) -> int | None:
    """The first length that is set."""
    found = (_number(table, "line-length", "line_length", "max-line-length") for table in tables)
    return next((length for length in found if length is not None), None)


def _tables(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The settings of each tool, those that win first."""
    for name in (".ruff.toml", "ruff.toml"):
        table = _toml(folder / name)
        if table is not None:
            yield "ruff", table
    tools = _dict(_toml(folder / "pyproject.toml") or {}, "tool")
    for tool in ("ruff", "black", "isort"):
        if tool in tools:
            yield tool, _dict(tools, tool)
    for name in (".isort.cfg", "setup.cfg", "tox.ini", ".flake8"):
        for tool, table in _ini(folder / name):
            yield tool, table


def _toml(file: Path) -> dict[str, Any] | None:
    """A file's tables; what cannot be read says nothing about style."""
    try:
        return parse_toml(read_text(file))
    except (OSError, ValueError):
        return None


def _ini(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        text = read_text(file)
        parser = configparser.RawConfigParser()
        parser.read_string(text)
    except (OSError, ValueError, configparser.Error):
        return
    for section in parser.sections():
        tool = section.rpartition(":")[2] if section.startswith("tool:") else section
        if tool in ("settings", "isort", "flake8", "pycodestyle"):
            name = "isort" if tool == "settings" else tool
            yield name, dict(parser.items(section))


def _of_ruff(table: Mapping[str, Any]) -> ImportOrder:
    known: dict[str, str] = {}
    for name, section in (
        ("known-third-party", "thirdparty"),
        ("known-first-party", "firstparty"),
        ("known-local-folder", "localfolder"),
        ("extra-standard-library", "stdlib"),
    ):
        known.update(dict.fromkeys(_list(table.get(name)), section))
    for section, names in _dict(table, "sections").items():
        known.update(dict.fromkeys(_list(names), section))
    order = _list(table.get("section-order"))
    return ImportOrder(
        tuple(_RUFF_SECTIONS.get(name, name) for name in order) or SECTIONS,
        _RUFF_SECTIONS.get(str(table.get("default-section", "third-party")), "thirdparty"),
        known,
        bool(table.get("force-sort-within-sections")),
        frozenset(_RUFF_SECTIONS.get(n, n) for n in _list(table.get("no-lines-before"))),
    )


def _of_isort(table: Mapping[str, Any]) -> ImportOrder:
    known: dict[str, str] = {}
    for key, value in table.items():
        if key.startswith(("known_", "extra_")):
            section = key.partition("_")[2].replace("_", "").lower()
            section = {"standardlibrary": "stdlib"}.get(section, section)
            known.update(dict.fromkeys(_list(value), section))
    sections = tuple(name.lower().replace("_", "") for name in _list(table.get("sections")))
    within = str(table.get("force_sort_within_sections", "")).lower() in ("1", "true", "yes")
    return ImportOrder(
        sections or SECTIONS,
        str(table.get("default_section", "thirdparty")).lower().replace("_", ""),
        known,
        within or table.get("profile") in ("google",),
        frozenset(n.lower().replace("_", "") for n in _list(table.get("no_lines_before"))),
    )


def _dict(table: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = table.get(name)
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[str]:
    if isinstance(value, str):
        return [item for item in re.split(r"[,\s]+", value) if item]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _number(table: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        text = str(table.get(name, ""))
        if text.isdigit():
            return int(text)
    return None
