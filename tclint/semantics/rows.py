"""What stands on a row of a file: the statement, and the functions and classes around it."""

from __future__ import annotations

import ast

from tclint.records import record
from tclint.semantics.syntax import blocks_of
from tclint.source.rows import first_row

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@record(frozen=True)
class Row:
    """A row with the statements around it, the outermost first, each with its block.

    The last is the statement that the row belongs to: of a compound one its header. There is none
    where nothing is run: in a blank line, a comment, a string that nobody reads.
    """

    row: int
    around: tuple[tuple[ast.stmt, list[ast.stmt]], ...]
    runs: bool

    @property
    def statement(self) -> ast.stmt | None:
        """The statement that the row belongs to."""
        return self.around[-1][0] if self.around and self.runs else None

    @property
    def functions(self) -> list[Function]:
        """The functions around the row, the outermost first; its own, in a header."""
        return [one for one, _ in self.around if isinstance(one, FUNCTIONS)]

    @property
    def name(self) -> str:
        """The dotted name of the function or class around the row; empty outside of them."""
        named = (*FUNCTIONS, ast.ClassDef)
        return ".".join(one.name for one, _ in self.around if isinstance(one, named))

    def inside(self, function: Function) -> list[tuple[ast.stmt, list[ast.stmt]]]:
        """The statements around the row that are in the body of a function."""
        place = next(at for at, (one, _) in enumerate(self.around) if one is function)
        return [*self.around[place + 1 :]]

    @property
    def rows(self) -> range:
        """The rows of the statement, without those of the blocks in it."""
        return own_rows(self.statement) if self.statement else range(self.row, self.row + 1)


def row_of(tree: ast.Module, row: int) -> Row:
    """Look for what stands on a row."""
    around: list[tuple[ast.stmt, list[ast.stmt]]] = []
    blocks = [tree.body]
    while blocks:
        found = next(((one, b) for b in blocks for one in b if row in _all_rows(one)), None)
        if found is None:
            break
        around.append(found)
        blocks = [*blocks_of(found[0])]
    innermost = around[-1][0] if around else None
    runs = innermost is not None and row in own_rows(innermost) and not _is_text(innermost)
    return Row(row, tuple(around), runs)


def own_rows(statement: ast.stmt) -> range:
    """The rows of a statement; of a compound one those of its header."""
    first, rows = first_row(statement), _all_rows(statement)
    inner = [block[0] for block in blocks_of(statement) if block]
    if not inner:
        return rows
    return range(first, max(first_row(inner[0]), statement.lineno + 1))


def _all_rows(statement: ast.stmt) -> range:
    return range(first_row(statement), (statement.end_lineno or statement.lineno) + 1)


def _is_text(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False
