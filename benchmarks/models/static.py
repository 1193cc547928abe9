"""What tclint says of the files that the models ran, without importing any of them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from benchmarks.models.record import Place
from tclint.config import Config
from tclint.diagnostics import Diagnostic, Effect
from tclint.lint.engine import check_files
from tclint.source.decode import read_source
from tclint.source.file import SourceFile
from tclint.source.parse import parse
from tclint.source.suppress import statement_span


@dataclass(frozen=True, slots=True)
class Predicted:
    """A graph-break finding: ``rows`` are the lines of its statement, of a block the header's.

    ``place`` is what the finding points at; ``related`` are the lines of other places in it.
    """

    file: str
    row: int
    rows: range
    code: str
    confidence: str
    message: str
    gb_ids: tuple[str, ...]
    place: Place = (0, 0, 0, 0)
    related: tuple[int, ...] = ()

    @property
    def named(self) -> frozenset[int]:
        """All lines that the finding names."""
        return frozenset((*self.rows, *self.related))


def predicted_breaks(
    root: Path, files: Collection[str], config: Config | None = None
) -> list[Predicted]:
    """The graph-break findings in ``files``, given relative to ``root``, unsure ones included."""
    ran = [root / file for file in sorted(files)]
    config = replace(config or Config(root), weak=True)
    run = check_files(_with_imports(root, ran), config)
    found = [one.diagnostic for one in run.results if one.diagnostic.effect is Effect.GRAPH_BREAK]
    return [_predicted(root, one) for one in found if str(one.path.relative_to(root)) in files]


def _predicted(root: Path, found: Diagnostic) -> Predicted:
    file = str(found.path.relative_to(root))
    row = found.span.start.row
    rows = statement_rows(found.path, row)
    return Predicted(
        file, row, rows, found.code, found.confidence.value, found.message, found.gb_ids,
        (row, found.span.start.column - 1, found.span.end.row, found.span.end.column - 1),
        tuple(at for one in found.related for at in statement_rows(found.path, one.start.row)),
    )  # fmt: skip


def statement_rows(path: Path, row: int) -> range:
    """The lines of the innermost statement at a line."""
    file, tree = _parsed(path)
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= row <= (node.end_lineno or node.lineno)
    ]
    if not around:
        return range(row, row + 1)
    span = statement_span(file, max(around, key=lambda node: node.lineno))
    return range(span.start.row, max(span.end.row, row) + 1)


def function_rows(path: Path, row: int) -> range:
    """The lines of the innermost function at a line, which may be that of a decorator."""
    _, tree = _parsed(path)
    inner = range(row, row + 1)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            rows = range(first, (node.end_lineno or node.lineno) + 1)
            if row in rows and (len(inner) == 1 or first > inner.start):
                inner = rows
    return inner


@lru_cache(maxsize=512)
def _parsed(path: Path) -> tuple[SourceFile, ast.Module]:
    file = read_source(path)
    return file, parse(file)


def _with_imports(root: Path, files: Sequence[Path]) -> list[Path]:
    """The files and those of the same packages that they import themselves."""
    packages = {file.relative_to(root).parts[0] for file in files}
    imported = (path for file in files for path in _imported(root, file))
    theirs = (path for path in imported if path.relative_to(root).parts[0] in packages)
    return list(dict.fromkeys((*files, *theirs)))


def _imported(root: Path, file: Path) -> Iterator[Path]:
    package = list(file.relative_to(root).parts[:-1])
    for node in ast.walk(_parsed(file)[1]):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            parts = [*base, *(node.module or "").split(".")] if node.module else base
            names = [[*parts, alias.name] for alias in node.names]
            yield from _existing(root, [parts, *names])
        elif isinstance(node, ast.Import):
            yield from _existing(root, [alias.name.split(".") for alias in node.names])


def _existing(root: Path, names: Sequence[Sequence[str]]) -> Iterator[Path]:
    for parts in names:
        if not parts:
            continue
        for path in (
            root.joinpath(*parts).with_suffix(".py"),
            root.joinpath(*parts, "__init__.py"),
        ):
            if path.is_file():
                yield path
