"""Which other files of a project take a name from the module that a file is?"""

from __future__ import annotations

import ast
import os
import re
from typing import TYPE_CHECKING, Final

from tclint.files import read_bytes
from tclint.fix.project_style import project_folder

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

_MOST: Final = 20_000
"""No more files and folders are looked at; in a greater project every name may be taken."""
_NOT_SOURCES: Final = frozenset({"__pycache__", "node_modules", "site-packages"})
_BY_TEXT: Final = re.compile(r"\b(?:import_module|__import__|run_module|run_path)\b")


class Importers:
    """The files of a run, and of the projects that they belong to; each project is listed once."""

    def __init__(self, paths: Sequence[Path], texts: Mapping[Path, str]) -> None:
        self._paths: Final = paths
        self._texts: Final = texts
        self._listed: Final[dict[Path, list[Path] | None]] = {}

    def take(self, path: Path, name: str) -> bool:
        """True where another file may take a name from the module that ``path`` is."""
        if path.name == "__init__.py":
            return True
        others = self._others(path)
        if others is None:
            return True
        word = re.compile(rf"\b{re.escape(path.stem)}\b")
        for other in others:
            text = self._text(other)
            if word.search(text) and _takes(text, path.stem, name):
                return True
        return False

    def _others(self, path: Path) -> list[Path] | None:
        """The files beside one; None where there are too many."""
        folder = project_folder(path)
        if folder is None:
            listed: list[Path] | None = sorted(path.absolute().parent.glob("*.py"))
        else:
            if folder not in self._listed:
                self._listed[folder] = _sources(folder)
            listed = self._listed[folder]
        if listed is None:
            return None
        real = os.path.realpath(path)
        given = {os.path.realpath(one): one for one in (*listed, *self._paths)}
        return [one for place, one in given.items() if place != real]

    def _text(self, path: Path) -> str:
        try:
            known = self._texts.get(path)
            return read_bytes(path).decode("utf-8", "replace") if known is None else known
        except OSError:
            return ""


def _sources(folder: Path) -> list[Path] | None:
    found: list[Path] = []
    looked_at = 0
    for place, folders, files in os.walk(folder):
        folders[:] = [one for one in folders if one[0] != "." and one not in _NOT_SOURCES]
        looked_at += len(folders) + len(files)
        if looked_at > _MOST:
            return None
        sources = (folder / place / one for one in sorted(files) if one.endswith((".py", ".ipynb")))
        found += [one for one in sources if one.is_file()]
    return found


def _takes(text: str, module: str, name: str) -> bool:
    """True where a text that mentions a module may take a name from it."""
    if re.search(rf"\b{re.escape(module)}\.{name}\b", text):  # in texts, too: "package.module.np"
        return True
    if _BY_TEXT.search(text) and re.search(rf"\b{name}\b", text):
        return True
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return re.search(rf"\b{name}\b", text) is not None
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            given = {alias.name for alias in node.names}
            if (node.module or "").rpartition(".")[2] == module and given & {name, "*"}:
                return True
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            modules |= set(_bound_to(node, module))
    return any(_reads(node, modules, name) for node in ast.walk(tree))


def _bound_to(statement: ast.Import | ast.ImportFrom, module: str) -> Iterator[str]:
    """The names that a statement gives to a module, or to a package that it is in."""
    for alias in statement.names:
        if alias.name.rpartition(".")[2] == module:
            yield alias.asname or alias.name.partition(".")[0]


def _reads(node: ast.AST, modules: Collection[str], name: str) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=owner), attr=attr):
            return attr == name and owner in modules
        case ast.Constant(value=str() as text):
            return text == name and bool(modules)
    return False
