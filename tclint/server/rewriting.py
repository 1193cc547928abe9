"""Edits of a document as the client applies them: of the whole, or of a notebook's cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lsprotocol import types

from tclint.diagnostics import Edit, Position, Span
from tclint.server.convert import range_of
from tclint.server.document import Analysis, Part
from tclint.server.positions import Columns
from tclint.source.magics import shown


def workspace_edit(
    analysis: Analysis, edits: Sequence[Edit], columns: Columns, *, versioned: bool
) -> types.WorkspaceEdit:
    """The edits as the client applies them; it refuses them when its version is another one."""
    document = analysis.document
    parts: dict[str, Part] = {} if edits else {document.uri: document.part_at(1)}
    texts: dict[str, list[types.TextEdit]] = {uri: [] for uri in parts}
    for edit in edits:
        part = _part(analysis, edit)
        placed = _inside(analysis, part, edit) if document.cells else edit
        _, area = range_of(analysis, placed.span, columns)
        parts[part.uri] = part
        texts.setdefault(part.uri, []).append(types.TextEdit(area, placed.content))
    if not versioned:
        return types.WorkspaceEdit(changes=texts)
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(uri, parts[uri].version), changes
            )
            for uri, changes in texts.items()
        ]
    )


def _part(analysis: Analysis, edit: Edit) -> Part:
    """The part that an edit is in; what is added above a cell's mark is behind the cell before."""
    return analysis.document.part_at(edit.span.start.row)


def _inside(analysis: Analysis, part: Part, edit: Edit) -> Edit:
    """An edit of a notebook's text within its cell: marks between cells stay."""
    first, last = part.above + 1, part.above + part.rows
    start, end = edit.span.start, edit.span.end
    content = shown(edit.content)
    if start.row < first:
        start = Position(first, 1)
    if end.row > last or end < start:
        width = len(analysis.file.lines[last - 1].rstrip("\r\n"))
        reaches_end = end.row > last
        end = Position(last, width + 1) if reaches_end else start
        if start.row > last:
            # A line is added at the end of the cell.
            start, content = end, "\n" + content
        content = content.removesuffix("\n") if reaches_end else content
    return replace(edit, span=Span(start, end), content=content)
