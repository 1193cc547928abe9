"""Parse an edited file by parsing what was edited: the other top-level statements stay."""

from __future__ import annotations

import ast

from tclint.source.errors import SourceError
from tclint.source.file import SourceFile
from tclint.source.parse import parse
from tclint.source.rows import first_row


def reparsed(before: SourceFile, tree: ast.Module, after: SourceFile) -> ast.Module | None:
    """The tree of a text, made of that of an earlier one; None where that cannot be done.

    Only for edits that leave the number of lines as it was: else each node behind the edit has
    another place, and moving them all takes longer than parsing.
    """
    rows = _changed_rows(before.lines, after.lines)
    if rows is None:
        return None
    first, last = rows
    body = tree.body
    start = sum(1 for node in body if (node.end_lineno or node.lineno) < first)
    end = len(body) - sum(1 for node in body if first_row(node) > last)
    if end < start:  # two statements around the edit are on one line
        return None
    above = (body[start - 1].end_lineno or 0) if start else 0
    below = first_row(body[end]) if end < len(body) else len(after.lines) + 1
    inside = body[start:end]
    if inside and (first_row(inside[0]) <= above or (inside[-1].end_lineno or 0) >= below):
        return None
    if above and after.lines[above - 1].rstrip("\r\n").endswith("\\"):
        return None  # the statement above may go on in the edit
    # Empty lines above give all nodes the rows that they have in the file.
    text = "\n" * above + "".join(after.lines[above : below - 1])
    try:
        fresh = parse(SourceFile(after.path, text))
    except SourceError:
        return None  # the whole file says better what is wrong
    return ast.Module([*body[:start], *fresh.body, *body[end:]], [])


def _changed_rows(old: list[str], new: list[str]) -> tuple[int, int] | None:
    """The first and the last row that differ; None if there are none, or other rows."""
    if len(old) != len(new):
        return None
    first = next((at for at, pair in enumerate(zip(old, new, strict=True)) if _differ(pair)), None)
    if first is None:
        return None
    last = next(at for at in range(len(old) - 1, -1, -1) if old[at] != new[at])
    return first + 1, last + 1


def _differ(pair: tuple[str, str]) -> bool:
    return pair[0] != pair[1]
