"""The text of a document after the changes that a client tells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types

from tclint.server.positions import Columns
from tclint.source.file import SourceFile


def changed(
    text: str, changes: Sequence[types.TextDocumentContentChangeEvent], columns: Columns
) -> str:
    """Carry changes out one after the other; one without a range replaces everything."""
    for change in changes:
        if isinstance(change, types.TextDocumentContentChangePartial):
            file = SourceFile.from_text(Path(), text)
            start = file.offset(columns.from_client(file, change.range.start))
            end = file.offset(columns.from_client(file, change.range.end))
            text = text[:start] + change.text + text[max(start, end) :]
        else:
            text = change.text
    return text
