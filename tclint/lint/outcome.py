"""What the analysis of a shard comes to, as plain data.

Lists, strings and numbers only: outcomes travel between processes and lie in the cache as JSON,
and findings read back from there are no different from fresh ones, because fresh ones pass
through here as well.
"""

from __future__ import annotations

import ast
from dataclasses import field
from typing import Any, Final

from tclint.diagnostics import Diagnostic, Span
from tclint.lint.rewrite import AddArgument, Import, Insert, Repair, Replace, Rewrite, Splice
from tclint.records import record
from tclint.source.errors import FileError

Row = list[Any]
"""One finding: the columns below, in this order."""
Excerpts = list[tuple[int, str]]
"""Lines of a file with their rows."""

(
    PATH, CODE, SPAN, NAME, MESSAGE, EFFECT, CONFIDENCE, RELATED, GB_IDS, CHAIN, FIXABLE,
    FIX_MESSAGE, DECLINED, URL, REPAIR, IS_SURE, IS_EXPLICIT,
) = range(17)  # fmt: skip
FIX_COLUMNS: Final = (FIXABLE, FIX_MESSAGE, DECLINED, REPAIR)


@record()
class Outcome:
    """The findings and errors of one shard, and all that they rest on.

    ``read`` are the files whose content mattered, ``searches`` the imports that were
    followed, packed. ``silencing`` are comments in other shards' files
    that silenced something: their path and place. ``excerpts`` are the lines around findings, by
    path, so that reports need not read the files again; a notebook's are not kept. ``lasting`` is
    false when something went wrong that may be different the next time, though no file changes.
    """

    findings: list[Row] = field(default_factory=list)
    errors: list[Row] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    searches: str = ""
    silencing: list[Row] = field(default_factory=list)
    excerpts: dict[str, Excerpts] = field(default_factory=dict)
    lasting: bool = True


def finding_row(
    diagnostic: Diagnostic, repair: Repair | None, *, sure: bool, explicit: bool
) -> Row:
    """A finding as data.

    ``sure`` and ``explicit`` say how it was reached: not below a flag that is off by default, and
    in a region that the program compiles itself.
    """
    declined = diagnostic.declined
    return [
        str(diagnostic.path),
        diagnostic.code,
        _span(diagnostic.span),
        diagnostic.name,
        diagnostic.message,
        diagnostic.effect.value,
        diagnostic.confidence.value,
        [_span(span) for span in diagnostic.related],
        list(diagnostic.gb_ids),
        [[link.function, link.filename, link.row] for link in diagnostic.chain],
        diagnostic.fixable.value if diagnostic.fixable else None,
        diagnostic.fix_message,
        declined.reason if declined else None,
        diagnostic.url,
        _repair(repair) if repair else None,
        sure,
        explicit,
    ]


def place_of(row: Row) -> tuple[str, Row, str]:
    """What findings are ordered by: file, place, code."""
    return row[PATH], row[SPAN], row[CODE]


def error_row(error: FileError) -> Row:
    """A file's error as data."""
    return [str(error.path), error.message, _span(error.span) if error.span else None]


def _span(span: Span) -> Row:
    return [span.start.row, span.start.column, span.end.row, span.end.column]


def _repair(repair: Repair) -> Row:
    rewrites = [_rewrite(rewrite) for rewrite in repair.rewrites]
    return [repair.message, repair.applicability.value, repair.changes, rewrites]


def _rewrite(rewrite: Rewrite) -> Row:
    more: Row = []
    match rewrite:
        case Import(module=module, name=name):
            return ["import", module, name]
        case Splice(edit=edit):
            return ["splice", _span(edit.span), edit.content]
        case Insert(anchor=node, template=template, parts=parts, after=after):
            kind = "after" if after else "before"
        case Replace(node=node, template=template, parts=parts):
            kind = "replace"
        case AddArgument(call=node, template=template, parts=parts, keyword=keyword):
            kind, more = "argument", [keyword]
    places = {name: _place(part) for name, part in parts.items()}
    return [kind, _place(node), template, places, *more]


def _place(node: ast.expr | ast.stmt) -> Row:
    """Enough to find the node again in another parse of the same text."""
    kind = type(node).__name__
    return [kind, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset]
