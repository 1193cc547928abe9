"""The edit that adds an import to a file."""

from __future__ import annotations

import ast
import sys
from bisect import bisect_right
from functools import lru_cache
from itertools import groupby, takewhile
from typing import TYPE_CHECKING, Final

from tclint.diagnostics import Edit, Position, Span
from tclint.fix.obstacle import ObstacleError
from tclint.fix.project_style import ImportOrder, section_of, style_of
from tclint.fix.snippet import newline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tclint.lint.rewrite import Import
    from tclint.source.file import SourceFile

Statement = ast.Import | ast.ImportFrom

_IMPORTS: Final = (ast.Import, ast.ImportFrom)
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def import_edit(file: SourceFile, tree: ast.Module, wanted: Import) -> Edit | None:
    """Insert an import where isort would put it; None when it is there already."""
    edit = _import_edit(file, tree, wanted)
    if isinstance(edit, str):
        raise ObstacleError(f"`{edit}` already means something else in this file")
    return edit


@lru_cache(maxsize=16)  # the fixes of a file want the same few imports
def _import_edit(file: SourceFile, tree: ast.Module, wanted: Import) -> Edit | str | None:
    """The edit, or the name that is taken."""
    if any(_provides(statement, wanted) for statement in tree.body):
        return None
    local = wanted.name or wanted.module.partition(".")[0]
    for statement in tree.body:
        if local in _bound(statement) and not _same_package(statement, wanted):
            return local
    text = f"import {wanted.module}"
    if wanted.name is not None:
        text = f"from {wanted.module} import {wanted.name}"
    block = _block(tree, wanted)
    if block:
        return _among(file, tree, block, wanted, text)
    return _alone(file, tree, text)


def _provides(statement: ast.stmt, wanted: Import) -> bool:
    if wanted.name is None:
        return isinstance(statement, ast.Import) and any(
            alias.name == wanted.module and alias.asname is None for alias in statement.names
        )
    return (
        isinstance(statement, ast.ImportFrom)
        and statement.level == 0
        and statement.module == wanted.module
        and any(a.name == wanted.name and a.asname in (None, a.name) for a in statement.names)
    )


def _same_package(statement: ast.stmt, wanted: Import) -> bool:
    """True for ``import a.b`` where ``import a.c`` is wanted: both bind ``a``."""
    if wanted.name is not None or not isinstance(statement, ast.Import):
        return False
    package = wanted.module.partition(".")[0]
    return any(a.asname is None and a.name.partition(".")[0] == package for a in statement.names)


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a top-level statement binds, as far as its own syntax says."""
    if isinstance(statement, _DEFINITIONS):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _block(tree: ast.Module, wanted: Import) -> list[Statement]:
    """The run of imports that the new one belongs to.

    What stands above the first import of a package may be there for its sake, such as settings in
    the environment: the new one comes no earlier.
    """
    blocks = [block for block in _blocks(tree) if not _is_future(block[-1])]
    package = wanted.module.partition(".")[0]
    for block in blocks:
        if any(package in _packages(statement) for statement in block):
            return block
    if package in sys.stdlib_module_names:
        return next(iter(blocks), [])
    return blocks[-1] if blocks else []


def _blocks(tree: ast.Module) -> Iterator[list[Statement]]:
    """The runs of imports above the first definition."""
    for is_import, run in groupby(_head(tree), lambda s: isinstance(s, _IMPORTS)):
        if is_import:
            yield [statement for statement in run if isinstance(statement, _IMPORTS)]


def _head(tree: ast.Module) -> Iterator[ast.stmt]:
    yield from takewhile(lambda statement: not isinstance(statement, _DEFINITIONS), tree.body)


def _packages(statement: Statement) -> set[str]:
    if isinstance(statement, ast.ImportFrom):
        return set() if statement.level else {(statement.module or "").partition(".")[0]}
    return {alias.name.partition(".")[0] for alias in statement.names}


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _among(
    file: SourceFile, tree: ast.Module, block: Sequence[Statement], wanted: Import, text: str
) -> Edit:
    """Put an import into a run of others: into its section, and there by its name."""
    order = style_of(file.path).imports
    rank = _rank(file, order, wanted.module, 0)
    ranks = [_rank(file, order, *_module(statement)) for statement in block]
    end = newline(file)
    if rank in ranks:
        section = [s for s, r in zip(block, ranks, strict=True) if r == rank]
        return _in_section(file, tree, section, wanted, text + end, order)
    if ranks != sorted(ranks):
        return _below(file, tree, block[-1], end + text)
    number = bisect_right(ranks, rank)
    if number:
        gap = "" if _joins(order, ranks[number - 1], rank) else end
        return _below(file, tree, block[number - 1], gap + text)
    gap = "" if _joins(order, rank, ranks[0]) else end
    return _above(file, block[0], text + end, gap)


def _in_section(
    file: SourceFile,
    tree: ast.Module,
    section: Sequence[Statement],
    wanted: Import,
    line: str,
    order: ImportOrder,
) -> Edit:
    """Put a line where the names go on; below the package's others where they are in no order."""
    new = _place(wanted.module, wanted.name is not None, order)
    places = [_place(_module(s)[0], isinstance(s, ast.ImportFrom), order) for s in section]
    if places != sorted(places):
        package = wanted.module.partition(".")[0]
        akin = [s for s in section if package in _packages(s)]
        return _below(file, tree, (akin or section)[-1], line.rstrip("\r\n"))
    number = bisect_right(places, new)
    if number == 0:
        return _above(file, section[0], line, "")
    return _below(file, tree, section[number - 1], line.rstrip("\r\n"))


def _module(statement: Statement) -> tuple[str, int]:
    if isinstance(statement, ast.ImportFrom):
        return statement.module or "", statement.level
    return statement.names[0].name, 0


def _rank(file: SourceFile, order: ImportOrder, module: str, level: int) -> int:
    section = section_of(module, level, file.path)
    return order.sections.index(section) if section in order.sections else len(order.sections)


def _joins(order: ImportOrder, above: int, below: int) -> bool:
    """True where no line is left free between two sections, whatever is missing there."""
    between = order.sections[above + 1 : below + 1]
    return bool(between) and order.no_lines_before.issuperset(between)


def _place(module: str, is_from: bool, order: ImportOrder) -> tuple[bool, str, bool]:
    """What orders the imports of a section: plain ones come first, unless all go by their names."""
    if order.within_sections:
        return False, module.lower(), is_from
    return is_from, module.lower(), is_from


def _below(file: SourceFile, tree: ast.Module, statement: Statement, text: str) -> Edit:
    row = statement.end_lineno or statement.lineno
    for other in tree.body:  # several statements may share the line
        if other.lineno <= row < (other.end_lineno or row):
            row = other.end_lineno or row
    return _insertion(file, row, text, newline(file))


def _above(file: SourceFile, statement: Statement, line: str, gap: str) -> Edit:
    """Put a line above a statement and the comments that belong to it."""
    row = statement.lineno
    while row > 1 and file.lines[row - 2].lstrip().startswith("#"):
        row -= 1
    if row == 1:
        row = statement.lineno  # the comments at the top are the file's
    if row < statement.lineno:
        gap = newline(file)
    place = Position(row, 1)
    return Edit(Span(place, place), line + gap)


def _alone(file: SourceFile, tree: ast.Module, text: str) -> Edit:
    """Put the file's first import below its docstring."""
    end = newline(file)
    above = [s for s in tree.body[:2] if _is_docstring(s, tree) or _is_future(s)]
    above = [s for s in tree.body if _is_future(s)] or above
    if not above:
        first = next(iter(tree.body), None)
        decorators = getattr(first, "decorator_list", [])
        row = min((n.lineno for n in [first, *decorators] if n is not None), default=1) - 1
        return _insertion(file, row, text + _gap(file, row, first, end), end)
    row = above[-1].end_lineno or above[-1].lineno
    following = next((s for s in tree.body if s.lineno > row), None)
    return _insertion(file, row, end + text + _gap(file, row, following, end), end)


def _gap(file: SourceFile, row: int, following: ast.stmt | None, end: str) -> str:
    """The free lines that are missing between the file's only import and what follows."""
    if following is None:
        return ""
    wanted = 2 if isinstance(following, _DEFINITIONS) else 1
    there = sum(1 for _ in takewhile(lambda line: not line.strip(), file.lines[row:]))
    return end * max(wanted - there, 0)


def _is_docstring(statement: ast.stmt, tree: ast.Module) -> bool:
    return (
        statement is tree.body[0]
        and isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _insertion(file: SourceFile, row: int, text: str, end: str) -> Edit:
    """Put a line below ``row``."""
    if row and row >= len(file.lines) and not file.lines[-1].endswith(("\n", "\r")):
        place = Position(len(file.lines), len(file.lines[-1]) + 1)
        return Edit(Span(place, place), end + text)
    place = Position(row + 1, 1)
    return Edit(Span(place, place), text + end)
