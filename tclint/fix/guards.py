"""Join guards that fixes wrote next to each other: nobody would write the same test twice."""

from __future__ import annotations

import ast
from itertools import accumulate, groupby, pairwise
from typing import TYPE_CHECKING

from tclint.fix.run import indentation
from tclint.records import record
from tclint.source.file import split_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Wrote = Callable[[int, int], bool]

Change = tuple[int, int, str]
"""A start, an end and what to put between them."""


@record(frozen=True)
class _Guard:
    """An ``if`` with lines of its own: rows of its test, its body and, if any, its ``else``."""

    head: int
    body: tuple[int, int]
    other: tuple[int, int] | None
    test: str
    is_written: bool


def joined_guards(text: str, wrote: Wrote) -> list[Change]:
    """The changes that join neighbours, where fixes wrote the later one.

    Only tests for compiling are joined: nothing that stands between them changes the answer.
    ``wrote`` says whether a row and column of ``text`` come from a fix.
    """
    tree, lines = ast.parse(text), split_lines(text)
    begins = [0, *accumulate(map(len, lines))]
    changes: list[Change] = []
    for block in _blocks(tree):
        for chain in _chains([_guard(statement, lines, wrote) for statement in block], lines):
            first, last = chain[0].body[1], (chain[-1].other or chain[-1].body)[1]
            content = _with_else(chain, lines) if chain[0].other else _without_else(chain, lines)
            changes.append((begins[first], begins[last], content))
    # A chain in a chain waits for the next pass.
    return [*_outermost(changes)]


def _blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield block


def _guard(statement: ast.stmt, lines: Sequence[str], wrote: Wrote) -> _Guard | None:
    if not isinstance(statement, ast.If) or not _asks_for_compiling(statement.test):
        return None
    end = statement.body[-1].end_lineno or statement.lineno
    if statement.body[0].lineno == statement.lineno:
        return None
    other = None
    if statement.orelse:
        rows = range(end + 1, statement.orelse[0].lineno)
        marks = [row for row in rows if lines[row - 1].strip() == "else:"]
        if len(marks) != 1:
            return None
        other, end = (marks[0], statement.end_lineno or marks[0]), marks[0] - 1
    test = statement.test
    is_written = wrote(test.lineno, test.col_offset)
    return _Guard(statement.lineno, (statement.lineno, end), other, ast.dump(test), is_written)


def _asks_for_compiling(test: ast.expr) -> bool:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    if not isinstance(test, ast.Call) or test.args or test.keywords:
        return False
    name = test.func
    called = name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
    return called in ("is_compiling", "is_dynamo_compiling")


def _chains(guards: Sequence[_Guard | None], lines: Sequence[str]) -> Iterator[list[_Guard]]:
    """Runs of two guards and more that can be one."""
    for is_guard, run in groupby(guards, key=lambda guard: guard is not None):
        chain: list[_Guard] = []
        for guard in run if is_guard else ():
            assert guard is not None
            if chain and not _joins(chain[-1], guard, lines):
                yield from [chain] if len(chain) > 1 else []
                chain = []
            chain.append(guard)
        yield from [chain] if len(chain) > 1 else []


def _joins(one: _Guard, two: _Guard, lines: Sequence[str]) -> bool:
    if not two.is_written or one.test != two.test or (one.other is None) != (two.other is None):
        return False
    between = "".join(lines[(one.other or one.body)[1] : two.head - 1])
    in_head = lines[two.head - 1]
    # With an `else` there is no place for what stood between; a comment at a test is about it.
    return "#" not in in_head and (one.other is None or not between.strip())


def _without_else(chain: Sequence[_Guard], lines: Sequence[str]) -> str:
    """The later bodies, with what stands between them indented as they are."""
    pieces: list[str] = []
    for one, two in pairwise(chain):
        inner = indentation(lines[two.body[0]])
        for line in lines[one.body[1] : two.head - 1]:
            pieces.append(inner + line.lstrip(" \t") if line.strip() else line)
        pieces += lines[two.body[0] : two.body[1]]
    return "".join(pieces)


def _with_else(chain: Sequence[_Guard], lines: Sequence[str]) -> str:
    bodies = [line for guard in chain[1:] for line in lines[guard.body[0] : guard.body[1]]]
    others = [guard.other for guard in chain if guard.other is not None]
    kept = [lines[others[0][0] - 1]]
    for start, end in others:
        kept += lines[start:end]
    return "".join([*bodies, *kept])


def _outermost(changes: Iterable[Change]) -> Iterator[Change]:
    """The changes that are in no other one: two of them are apart, or one holds the other."""
    done = -1
    for change in sorted(changes, key=lambda change: (change[0], -change[1])):
        if change[1] > done:
            yield change
            done = change[1]
