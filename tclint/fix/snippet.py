"""Cut the statements that a fix is about out of a file and find syntax nodes in them.

LibCST costs far more than CPython's parser, so it sees only the lines that a fix touches.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from tclint.diagnostics import Position
from tclint.fix.obstacle import ObstacleError
from tclint.fix.run import AstNode, Run, Scope, indentation, run_around
from tclint.records import record
from tclint.source.file import SourceFile, split_lines
from tclint.source.nesting import nested_deeply
from tclint.source.rows import first_row

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

CstStatement = cst.BaseSmallStatement | cst.BaseCompoundStatement
Line = cst.SimpleStatementLine | cst.SimpleStatementSuite

_KEPT_SNIPPETS: Final = 16
_SHOWN: Final = 60
# LibCST's own visitors give up at some 250 levels, and its parser kills the process at thousands.
_DEEPEST: Final = 300
_CONTEXT: Final = re.compile(r"(?:Store|Del)\(\)")

Corner = tuple[int, int]


@record(frozen=True, eq=False)
class Parsed:
    """A snippet's LibCST tree with its nodes by position, and rows of undecorated statements."""

    module: cst.Module
    expressions: dict[tuple[Corner, Corner], cst.BaseExpression]
    statements: dict[Corner, CstStatement]
    lines: dict[cst.CSTNode, Line]
    rows: dict[cst.CSTNode, tuple[int, int]]


@record(frozen=True, eq=False)
class Snippet:
    """Whole lines of a file, parsed: ``start`` is their offset, ``header`` what was put before.

    ``step`` is one step of indentation.
    """

    file: SourceFile
    text: str
    start: int
    first_row: int
    header: str
    step: str
    parsed: Parsed

    @property
    def goes_on(self) -> bool:
        """True where a statement of the same block follows at once."""
        row = self.first_row + len(split_lines(self.text))
        if row > len(self.file.lines):
            return False
        line, own = self.file.lines[row - 1], self.file.lines[row - 2]
        return bool(line.strip()) and indentation(line) == indentation(own)

    def expression(self, node: ast.expr) -> cst.BaseExpression:
        """The LibCST node of an expression."""
        found = self.parsed.expressions.get(self._corners(node))
        if found is None or not _same(node, found):
            raise ObstacleError(f"{_excerpt(self.file, node)} cannot be moved as one piece")
        return found

    def statement(self, node: ast.stmt) -> CstStatement:
        """The LibCST node of a statement: a small one, without its line, or a compound one."""
        found = self.parsed.statements.get(self._corners(node)[0])
        if found is None:
            raise ObstacleError(f"{_excerpt(self.file, node)} cannot be moved as one piece")
        return found

    def line(self, statement: cst.CSTNode) -> Line | None:
        """The line, or one-line suite, that a small statement stands in."""
        return self.parsed.lines.get(statement)

    def misses(self, statement: cst.CSTNode, rows: Collection[int]) -> bool:
        """True when a statement surely touches none of the snippet's ``rows``."""
        place = self.parsed.rows.get(statement)
        return place is not None and not any(place[0] <= row <= place[1] for row in rows)

    def row(self, node: AstNode) -> int:
        """The row of the snippet that a node starts in."""
        return self._corners(node)[0][0]

    def offsets(self, node: AstNode) -> tuple[int, int]:
        """Where a node starts and ends in ``text``."""
        span = self.file.span(node)
        return (
            self.file.offset(span.start) - self.start,
            self.file.offset(span.end) - self.start,
        )

    def _corners(self, node: AstNode) -> tuple[Corner, Corner]:
        span = self.file.span(node)
        shift = len(split_lines(self.header)) - self.first_row + 1
        return (
            (span.start.row + shift, span.start.column - 1),
            (span.end.row + shift, span.end.column - 1),
        )


def cut(file: SourceFile, tree: ast.Module, nodes: Sequence[AstNode]) -> Snippet:
    """Cut out the smallest run of whole statements of one block around all nodes."""
    run = run_around(file, tree, nodes)
    text = "".join(file.lines[run.first - 1 : run.last])
    start = file.offset(Position(run.first, 1))
    step = _unit(file, run.scope or tree)
    header = _header(file, run, step)
    return Snippet(file, text, start, run.first, header, step, parse(header + text))


@lru_cache(maxsize=_KEPT_SNIPPETS)
def parse(text: str) -> Parsed:
    """Parse a text with LibCST and index it; several fixes of one function share the work."""
    try:
        if len(text) > _DEEPEST and nested_deeply(ast.parse(text), _DEEPEST):
            raise ObstacleError("the code is nested too deeply")
        module = cst.parse_module(text)
        if module.code != text:
            raise ObstacleError("LibCST does not reproduce this function")
        wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
        return _index(module, wrapper.resolve(PositionProvider))
    except cst.ParserSyntaxError as error:
        raise ObstacleError("LibCST cannot parse this function") from error
    except SyntaxError as error:
        raise ObstacleError("this function cannot be parsed by itself") from error
    except (RecursionError, MemoryError, KeyError) as error:  # at its limit LibCST loses positions
        raise ObstacleError("the code is nested too deeply") from error


def newline(file: SourceFile) -> str:
    """The line end that a file uses, judged by its first line."""
    first = file.lines[0] if file.lines else ""
    end = first[len(first.rstrip("\r\n")) :]
    return end or "\n"


def _index(module: cst.Module, positions: Mapping[cst.CSTNode, CodeRange]) -> Parsed:
    expressions: dict[tuple[Corner, Corner], cst.BaseExpression] = {}
    statements: dict[Corner, CstStatement] = {}
    lines: dict[cst.CSTNode, Line] = {}
    rows: dict[cst.CSTNode, tuple[int, int]] = {}
    for node, place in positions.items():
        if isinstance(node, cst.BaseExpression):
            expressions.setdefault(_extent(node, place, positions), node)
        elif isinstance(node, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            statements[place.start.line, place.start.column] = node
            if not getattr(node, "decorators", ()):
                rows[node] = (place.start.line, place.end.line)
        elif isinstance(node, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
            lines.update(dict.fromkeys(node.body, node))
    return Parsed(module, expressions, statements, lines, rows)


def _extent(
    node: cst.BaseExpression, place: CodeRange, positions: Mapping[cst.CSTNode, CodeRange]
) -> tuple[Corner, Corner]:
    """Where CPython says that an expression is: tuples and generators include parentheses."""
    start = (place.start.line, place.start.column)
    end = (place.end.line, place.end.column)
    if isinstance(node, (cst.Tuple, cst.GeneratorExp)) and node.lpar:
        first, last = positions[node.lpar[-1]], positions[node.rpar[0]]
        return (first.start.line, first.start.column), (last.end.line, last.end.column)
    if isinstance(node, cst.GeneratorExp):
        return (start[0], start[1] - 1), (end[0], end[1] + 1)
    return start, end


def _header(file: SourceFile, run: Run, step: str) -> str:
    """Lines that teach LibCST the file's style, and open a block where the run is indented.

    Whatever the fix takes out, a block of which the run is only a part does not get empty.
    """
    end = newline(file)
    header = f"if 1:{end}{step}pass{end}"
    if run.indentation:
        header += f"if 1:{end}"
        if run.is_part:
            header += f"{run.indentation}pass{end}"
    return header


@lru_cache(maxsize=_KEPT_SNIPPETS)
def _unit(file: SourceFile, around: Scope | ast.Module) -> str:
    """One step of indentation as the code around uses it, or else the first block of the file."""
    blocks = ast.walk(around) if isinstance(around, ast.Module) else iter([around])
    for block in blocks:
        body = getattr(block, "body", None)
        if isinstance(block, ast.stmt) and body and body[0].lineno > block.lineno:
            outer = indentation(file.lines[block.lineno - 1])
            inner = indentation(file.lines[first_row(body[0]) - 1])
            if inner.startswith(outer) and len(inner) > len(outer):
                return inner[len(outer) :]
    return "    "


def _same(node: ast.expr, found: cst.BaseExpression) -> bool:
    """Check that a LibCST node says what the syntax node says."""
    text = cst.Module([]).code_for_node(found)
    try:
        parsed = ast.parse(f"({text})", mode="eval").body
    except SyntaxError:
        return False
    return _dump(parsed) == _dump(node)


def _dump(node: ast.expr) -> str:
    return _CONTEXT.sub("Load()", ast.dump(node))


def _excerpt(file: SourceFile, node: AstNode) -> str:
    """A short quotation for messages."""
    text = " ".join(file.excerpt(file.span(node)).split())
    return f"`{text[:_SHOWN]}...`" if len(text) > _SHOWN else f"`{text}`"
