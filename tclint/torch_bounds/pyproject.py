"""``pyproject.toml``: its lists of requirements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tclint.files import is_file
from tclint.toml_text import parse_toml
from tclint.torch_bounds.releases import BoundsError
from tclint.torch_bounds.requirements_txt import listed
from tclint.torch_bounds.statements import (
    Kind,
    Requirement,
    Statement,
    poetry,
    requirements,
    statement,
)
from tclint.torch_bounds.text import items, names_torch, read_text, table

Lists = Iterator[tuple[Kind, Sequence[Requirement]]]


def pyproject(file: Path) -> list[Statement]:
    """What the metadata of a project says of torch.

    Raises:
        BoundsError: it cannot be read or understood.
    """
    text = read_text(file)
    if not names_torch(text) and "dynamic" not in text:
        return []
    data = load_toml(text)
    lists = (*_standard(data, file.parent), *_poetry(data), *_others(data))
    return [statement(file, kind, found) for kind, found in lists if found]


def load_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML file.

    Raises:
        BoundsError: it is none.
    """
    try:
        return parse_toml(text)
    except (ValueError, RecursionError) as error:
        raise BoundsError(f"not valid TOML: {error}") from error


def _standard(data: dict[str, Any], folder: Path) -> Lists:
    """The tables that all tools share, and what setuptools reads for them."""
    project = table(data, "project")
    yield Kind.NEEDED, requirements(items(project.get("dependencies")))
    groups = (table(project, "optional-dependencies"), table(data, "dependency-groups"))
    for group in groups:
        for texts in group.values():
            yield Kind.OPTIONAL, requirements(items(texts))
    dynamic = table(data, "tool", "setuptools", "dynamic")
    yield Kind.NEEDED, _from_files(table(dynamic, "dependencies"), folder)
    for entry in table(dynamic, "optional-dependencies").values():
        yield Kind.OPTIONAL, _from_files(entry, folder)


def _from_files(entry: Any, folder: Path) -> list[Requirement]:
    """The requirements of files that a table of setuptools' names."""
    said = entry.get("file", ()) if isinstance(entry, dict) else ()
    names = [said] if isinstance(said, str) else said
    paths = [folder / name for name in names if isinstance(name, str)]
    return [each for path in paths if is_file(path) for each in listed(path).all]


def _poetry(data: dict[str, Any]) -> Lists:
    tool = table(data, "tool", "poetry")
    main = _by_name(table(tool, "dependencies"), "torch")
    optional = table(tool, "dependencies").get("torch")
    is_optional = isinstance(optional, dict) and optional.get("optional") is True
    yield Kind.OPTIONAL if is_optional else Kind.NEEDED, main
    yield Kind.OPTIONAL, _by_name(table(tool, "dev-dependencies"), "torch")
    for group in table(tool, "group").values():
        yield Kind.OPTIONAL, _by_name(table(group, "dependencies"), "torch")


def _others(data: dict[str, Any]) -> Lists:
    tool = table(data, "tool")
    yield Kind.OPTIONAL, requirements(items(table(tool, "uv").get("dev-dependencies")))
    for texts in table(tool, "pdm", "dev-dependencies").values():
        yield Kind.OPTIONAL, requirements(items(texts))


def _by_name(dependencies: dict[str, Any], wanted: str) -> list[Requirement]:
    """The entries of one package in a table by names."""
    entries = (value for name, value in dependencies.items() if name.lower() == wanted)
    return _joined(poetry(value) for value in entries)


def _joined(lists: Iterable[list[Requirement]]) -> list[Requirement]:
    return [each for found in lists for each in found]
