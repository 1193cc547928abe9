"""From a repair, which is data, to the edits of the file's text that carry it out."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from tclint.diagnostics import Decline, Edit, Position, Span
from tclint.fix.apart import apart, nodes_of
from tclint.fix.imports import import_edit
from tclint.fix.layout import broken, shape_of
from tclint.fix.obstacle import ObstacleError
from tclint.fix.quotes import quote_of
from tclint.fix.reduce import Stretch, changed_stretches
from tclint.fix.rewriter import Plan, rewrite_module
from tclint.fix.snippet import Snippet, cut
from tclint.lint.repair import PlacedRepair, located
from tclint.lint.rewrite import Local, Replace
from tclint.source.file import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tclint.source.file import SourceFile


def edits_for(
    file: SourceFile, tree: ast.Module, repair: PlacedRepair
) -> tuple[Edit, ...] | Decline:
    """Work out a repair's edits: in order, disjoint, and as small as the changes are.

    ``tree`` may be any parse of ``file``.
    """
    try:
        return _edits(file, tree, repair)
    except ObstacleError as obstacle:
        return Decline(str(obstacle))
    except RecursionError:
        return Decline("the code is nested too deeply")


def _edits(file: SourceFile, tree: ast.Module, repair: PlacedRepair) -> tuple[Edit, ...]:
    try:
        rewrites = located(repair, tree)
    except LookupError as error:
        raise ObstacleError("the file has changed since it was checked") from error
    edits = [*repair.edits]
    for wanted in repair.imports:
        edit = import_edit(file, tree, wanted)
        edits += [] if edit is None or edit in edits else [edit]
    groups = apart(file, tree, rewrites)
    made = [edit for group in groups for edit in _local_edits(file, tree, group)]
    edits += made if len(groups) < 2 else _first_slid(file, made)
    edits.sort()
    if not edits:
        raise ObstacleError("the code already reads as the fix would write it")
    if any(one.span.end > other.span.start for one, other in pairwise(edits)):
        raise ObstacleError("the import would land inside the rewritten code")
    return tuple(edits)


def _local_edits(file: SourceFile, tree: ast.Module, rewrites: Sequence[Local]) -> list[Edit]:
    snippet = cut(file, tree, [node for rewrite in rewrites for node in nodes_of(rewrite)])
    plan = Plan(snippet, quote_of(file, tree))
    for rewrite in rewrites:
        plan.add(rewrite)
    code = rewrite_module(plan)
    if not code.startswith(snippet.header):
        raise ObstacleError("LibCST does not reproduce this function")
    code = broken(code, snippet.header + snippet.text, shape_of(file, snippet.step))
    _check_syntax(code)
    _check_comments(snippet, code, rewrites)
    after = code[len(snippet.header) :]
    stretches = changed_stretches(snippet.text, after, _targets(snippet, rewrites))
    return _place(file, snippet.start, stretches)


def _targets(snippet: Snippet, rewrites: Iterable[Local]) -> list[tuple[int, int]]:
    """The places of the replaced nodes, except for blocks: those are compared line by line."""
    return [
        snippet.offsets(rewrite.node)
        for rewrite in rewrites
        if isinstance(rewrite, Replace)
        and not (isinstance(rewrite.node, ast.stmt) and hasattr(rewrite.node, "body"))
    ]


def _check_syntax(code: str) -> None:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ObstacleError("the rewritten code would not parse") from error


def _check_comments(snippet: Snippet, code: str, rewrites: Iterable[Local]) -> None:
    """People's comments survive, except at the end of a statement that is taken out."""
    before = snippet.header + snippet.text
    if before.count("#") <= code.count("#"):
        return
    lost = _comments(before) - _comments(code)
    for rewrite in rewrites:
        if isinstance(rewrite, Replace) and not rewrite.template.strip():
            last = snippet.file.lines[(rewrite.node.end_lineno or rewrite.node.lineno) - 1]
            lost -= Counter(c for c in lost if last.rstrip().endswith(c))
    if lost:
        raise ObstacleError(f"the comment `{next(iter(lost))}` would be lost")


def _comments(code: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(code, newline="").readline)
    try:
        return Counter(t.string for t in tokens if t.type == tokenize.COMMENT)
    except (tokenize.TokenError, SyntaxError) as error:
        raise ObstacleError("the comments of this function cannot be read") from error


def _first_slid(file: SourceFile, edits: Sequence[Edit]) -> list[Edit]:
    """The first insertion as far down as it may stand, as if all changes were compared at once."""
    first, *others = sorted(edits)
    end = others[0].span.start if others else Position(len(file.lines), 1)
    row, lines = first.span.start.row, split_lines(first.content)
    if first.span.start != first.span.end or first.span.start.column > 1:
        return [first, *others]
    while row < end.row and file.lines[row - 1] == lines[0]:
        lines = [*lines[1:], lines[0]]
        row += 1
    place = Position(row, 1)
    return [Edit(Span(place, place), "".join(lines)), *others]


def _place(file: SourceFile, start: int, stretches: Iterable[Stretch]) -> list[Edit]:
    """Turn places in the snippet into rows and columns of the file."""
    return [
        Edit(Span(file.place(start + s.start), file.place(start + s.end)), s.text)
        for s in stretches
    ]
