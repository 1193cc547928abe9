"""The smallest run of whole statements around the nodes that a fix is about."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from tclint.records import record
from tclint.source.file import SourceFile
from tclint.source.rows import first_row

AstNode = ast.expr | ast.stmt
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@record(frozen=True)
class Run:
    """Rows ``first`` to ``last``: statements of one block, and the comments above the first one.

    ``is_part`` says that the block has more statements; ``scope`` is the innermost function or
    class around it.
    """

    first: int
    last: int
    indentation: str
    is_part: bool
    scope: Scope | None


@record(frozen=True)
class Block:
    """The statements of a block with the node that it belongs to."""

    owner: ast.AST
    body: Sequence[ast.stmt]
    scope: Scope | None


def run_around(file: SourceFile, tree: ast.Module, nodes: Sequence[AstNode]) -> Run:
    """The run in the innermost block with lines of its own that holds all nodes."""
    block = block_around(file, tree, nodes)
    part = touched(file, block.body, nodes)
    run = block.body[part.start : part.stop]
    first, last = _extent([*run, *nodes])
    line = file.lines[first - 1] if first <= len(file.lines) else ""
    indent = indentation(line) if block.owner is not tree else ""
    return Run(
        _with_comments(file, _last_row_above(block, part.start, first), first, indent),
        min(last, len(file.lines)),
        indent,
        len(run) < len(block.body),
        block.scope,
    )


def block_around(file: SourceFile, tree: ast.Module, nodes: Sequence[AstNode]) -> Block:
    """The innermost block with lines of its own that holds all nodes."""
    block = Block(tree, tree.body, None)
    first, last = _extent(nodes)
    while True:
        part = _touched(file, block.body, first, last)
        run = block.body[part.start : part.stop]
        inner = next(_blocks_around(file, run, first, last, block.scope), None)
        if inner is None:
            return block
        block = inner


def touched(file: SourceFile, body: Sequence[ast.stmt], nodes: Sequence[AstNode]) -> range:
    """Which statements of a block some nodes stand in, or share a logical line with."""
    return _touched(file, body, *_extent(nodes))


def indentation(line: str) -> str:
    """The blanks before a line's first token."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def _touched(file: SourceFile, body: Sequence[ast.stmt], first: int, last: int) -> range:
    """Which statements are on some rows, or share a logical line with one that is."""
    begin = bisect_left(body, first, key=lambda statement: _last_joined(file, statement))
    end = begin
    while end < len(body) and _first_joined(file, body[end]) <= last:
        last = max(last, _last_joined(file, body[end]))
        end += 1
    return range(begin, end)


def _first_joined(file: SourceFile, statement: ast.stmt) -> int:
    """The first row of a statement, or the one above where a backslash joins them."""
    start = first_row(statement)
    return start - (start > 1 and _goes_on(file, start - 1))


def _last_joined(file: SourceFile, statement: ast.stmt) -> int:
    """The last row of a statement, or the one below where a backslash joins them."""
    end = statement.end_lineno or statement.lineno
    return end + _goes_on(file, end)


def _blocks_around(
    file: SourceFile, run: Sequence[ast.stmt], first: int, last: int, scope: Scope | None
) -> Iterator[Block]:
    """The block inside a statement that has some rows for itself and others."""
    if len(run) != 1:
        return
    statement = run[0]
    scope = statement if isinstance(statement, Scope) else scope
    handlers = [*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]
    for owner in (statement, *handlers):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(owner, name, None)
            if not body:
                continue
            start, end = rows_of(body[0])[0], rows_of(body[-1])[1]
            if not (start <= first and last <= end and _begins_line(file, body[0], start)):
                continue
            if file.lines[start - 1].lstrip().startswith("elif"):
                yield from _blocks_around(file, body, first, last, scope)
            else:
                yield Block(owner, body, scope)


def _begins_line(file: SourceFile, statement: ast.stmt, row: int) -> bool:
    """Whether a statement, or its first decorator, stands on a logical line of its own."""
    if row > len(file.lines) or (row > 1 and _goes_on(file, row - 1)):
        return False
    return len(indentation(file.lines[row - 1])) == statement.col_offset


def _goes_on(file: SourceFile, row: int) -> bool:
    """Whether a backslash joins a row to the next one."""
    return row <= len(file.lines) and file.lines[row - 1].rstrip("\r\n").endswith("\\")


def rows_of(statement: ast.stmt) -> tuple[int, int]:
    """The first and last row of a statement with its decorators."""
    return first_row(statement), statement.end_lineno or statement.lineno


def _extent(nodes: Sequence[AstNode]) -> tuple[int, int]:
    rows = [rows_of(n) if isinstance(n, ast.stmt) else (n.lineno, _end(n)) for n in nodes]
    return min(start for start, _ in rows), max(end for _, end in rows)


def _end(node: ast.expr) -> int:
    return node.end_lineno or node.lineno


def _last_row_above(block: Block, number: int, first: int) -> int:
    """The last row above ``first`` on which something of the block's owner ends.

    ``number`` is that of the block's statement there.
    """
    if number:
        before = block.body[number - 1]
        return before.end_lineno or before.lineno
    last, pending = getattr(block.owner, "lineno", 0), [block.owner]
    while pending:
        for node in ast.iter_child_nodes(pending.pop()):
            end = getattr(node, "end_lineno", None)
            if end is None:
                pending.append(node)
            elif end < first:
                last = max(last, end)
    return int(last)


def _with_comments(file: SourceFile, above: int, first: int, indent: str) -> int:
    """The row where the comments above a statement begin: a deeper one ends the block before."""
    while first - 1 > above:
        line = file.lines[first - 2]
        if line.strip() and (
            not line.lstrip().startswith("#") or len(indentation(line)) > len(indent)
        ):
            break
        first -= 1
    return first
