"""Arrange statements in blocks so that comments and blank lines stay where people put them."""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING, Final

import libcst as cst

from tclint.records import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tclint.fix.template import Statement

Simple = cst.SimpleStatementLine | cst.SimpleStatementSuite

# What tools and editors read, for all that follows.
_MARK: Final = re.compile(r"#\s*(?:%%|(?:fmt|yapf|isort|pylint|ruff|mypy|region|endregion)\b)")


@record()
class Change:
    """What becomes of one statement: ``main`` is None where the statement itself stays.

    ``carries`` is true when the statement's own end-of-line comment moved with it into ``main``,
    ``moves`` when the statement went elsewhere with the comments above it.
    """

    before: list[Statement] = field(default_factory=list)
    main: list[Statement] | None = None
    after: list[Statement] = field(default_factory=list)
    carries: bool = False
    moves: bool = False

    @property
    def inline(self) -> bool:
        """True when the change fits into a line of statements joined by semicolons."""
        if self.before or self.after:
            return False
        main = self.main or []
        return all(
            isinstance(s, cst.SimpleStatementLine) and len(s.body) == 1 and not s.leading_lines
            for s in main
        )


class Block:
    """Collects a block's statements; lines above a removed statement wait for the next one."""

    def __init__(self) -> None:
        """Start empty."""
        self.statements: list[Statement] = []
        self.waiting: list[cst.EmptyLine] = []
        self._removed = False

    def append(self, statement: Statement) -> None:
        """Add a statement below the lines that wait."""
        if self.waiting or self._removed:
            lines = self._above(statement.leading_lines)
            statement = statement.with_changes(leading_lines=lines)
            self.waiting, self._removed = [], False
        self.statements.append(statement)

    def footer(self, below: Sequence[cst.EmptyLine], *, ends: bool) -> list[cst.EmptyLine]:
        """The lines at the end: where it ``ends`` there, none is free above what was removed."""
        waiting = self.waiting
        if self._removed and ends:
            while waiting and waiting[-1].comment is None:
                waiting = waiting[:-1]
        return [*waiting, *below]

    def _above(self, own: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
        """The lines above a statement: a removed one leaves no gap of its own."""
        waiting = self.waiting
        if not self._removed or not own or own[0].comment is not None:
            return [*waiting, *own]
        if not waiting:
            # It stood right below its neighbour, or at the top of the block.
            return [*own] if self.statements else [*own[_blank_prefix(own) :]]
        while waiting and waiting[-1].comment is None:
            waiting = waiting[:-1]
        return [*waiting, *own]

    def change(self, statement: Statement, change: Change) -> None:
        """Add what becomes of a statement that has its lines for itself."""
        leading = list(statement.leading_lines)
        if change.moves:
            leading = leading[: len(leading) - len(own_comments(leading))]
        if self._removed:
            leading, self.waiting = self._above(leading), []
        self._removed = change.main == [] and not change.before + change.after
        if change.before:
            blank = _blank_prefix(leading)
            self.waiting += leading[:blank]
            leading = leading[blank:]
            for inserted in change.before:
                self.append(inserted)
            if isinstance(change.before[-1], (cst.FunctionDef, cst.ClassDef)):
                self.waiting.append(cst.EmptyLine(indent=False))
        self.waiting += leading
        for new in _main(statement, change):
            self.append(new)
        for inserted in change.after:
            self.append(inserted)


def split(line: Simple) -> list[cst.SimpleStatementLine]:
    """Give each of the statements joined by semicolons a line of its own."""
    lines = [
        cst.SimpleStatementLine([small.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)])
        for small in line.body
    ]
    lines[-1] = lines[-1].with_changes(trailing_whitespace=line.trailing_whitespace)
    if isinstance(line, cst.SimpleStatementLine):
        lines[0] = lines[0].with_changes(leading_lines=line.leading_lines)
    return lines


def inline(
    smalls: Sequence[cst.BaseSmallStatement], changes: Sequence[Change | None]
) -> list[cst.BaseSmallStatement]:
    """Make changes that fit into a line: its semicolons stay as they are."""
    result: list[cst.BaseSmallStatement] = []
    for small, change in zip(smalls, changes, strict=True):
        if change is None or change.main is None:
            result.append(small)
            continue
        for line in change.main:
            if isinstance(line, cst.SimpleStatementLine):
                result.append(line.body[0].with_changes(semicolon=small.semicolon))
    if result and result[-1].semicolon != smalls[-1].semicolon:
        result[-1] = result[-1].with_changes(semicolon=smalls[-1].semicolon)
    return result


def end_comment(statement: Statement) -> cst.TrailingWhitespace | None:
    """The end of a statement's first line, where that has a comment."""
    if isinstance(statement, cst.SimpleStatementLine):
        end = statement.trailing_whitespace
    elif isinstance(statement.body, cst.IndentedBlock):
        end = statement.body.header
    else:
        return None
    return end if end.comment else None


def _main(old: Statement, change: Change) -> list[Statement]:
    """The statements in the place of ``old``, the first one with the comment at its end."""
    if change.main is None:
        return [old.with_changes(leading_lines=[])]
    comment = end_comment(old)
    if not change.main or comment is None or change.carries:
        return change.main
    first = change.main[0]
    if isinstance(first, cst.SimpleStatementLine):
        first = first.with_changes(trailing_whitespace=comment)
    elif isinstance(first.body, cst.IndentedBlock):
        first = first.with_changes(body=first.body.with_changes(header=comment))
    return [first, *change.main[1:]]


def own_comments(lines: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
    """The comments right above a statement, of the lines above it: those that tell of it."""
    others = [
        i for i, line in enumerate(lines) if not line.comment or _MARK.match(line.comment.value)
    ]
    return [*lines[others[-1] + 1 :]] if others else [*lines]


def _blank_prefix(lines: Sequence[cst.EmptyLine]) -> int:
    """How many lines above a statement come before its comments."""
    return next((i for i, line in enumerate(lines) if line.comment), len(lines))
