"""The edits that turn one text into another, line by line, so that cursors and folds survive."""

from __future__ import annotations

from difflib import SequenceMatcher

from tclint.diagnostics import Edit, Position, Span
from tclint.fix.reduce import common
from tclint.server.positions import end_of
from tclint.source.file import SourceFile, split_lines


def line_edits(before: SourceFile, after: str) -> tuple[Edit, ...]:
    """Edits that replace whole lines; those that both texts share are left alone."""
    old, new = before.lines, split_lines(after)
    head = common(old, new)
    tail = common(old[head:][::-1], new[head:][::-1])
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    matcher = SequenceMatcher(None, middle_old, middle_new, autojunk=False)
    return tuple(
        Edit(
            Span(_start_of(before, head + i1), _start_of(before, head + i2)),
            "".join(middle_new[j1:j2]),
        )
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    )


def _start_of(file: SourceFile, index: int) -> Position:
    return Position(index + 1, 1) if index < len(file.lines) else end_of(file)
