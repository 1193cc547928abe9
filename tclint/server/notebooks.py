"""Notebooks as an editor shows them: cells that are texts of their own, checked as one file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from lsprotocol import types

from tclint.records import record
from tclint.server.document import Document, Part
from tclint.server.positions import Columns
from tclint.server.texts import changed
from tclint.source.file import CELL_MARK, split_lines
from tclint.source.magics import hidden


@record()
class Notebook:
    """The cells of an open notebook in their order, and the text of each."""

    uri: str
    version: int
    cells: list[types.NotebookCell]
    texts: dict[str, types.TextDocumentItem] = field(default_factory=dict)

    def change(self, params: types.DidChangeNotebookDocumentParams, columns: Columns) -> None:
        """Take over what the client says has changed."""
        self.version = params.notebook_document.version
        cells = params.change.cells
        if cells is None:
            return
        if cells.structure is not None:
            self._restructure(cells.structure)
        kinds = {cell.document: cell.kind for cell in cells.data or ()}
        for cell in self.cells:
            cell.kind = kinds.get(cell.document, cell.kind)
        for content in cells.text_content or ():
            item = self.texts.get(content.document.uri)
            if item is not None:
                item.text = changed(item.text, content.changes, columns)
                item.version = content.document.version

    def _restructure(self, structure: types.NotebookDocumentCellChangeStructure) -> None:
        array = structure.array
        self.cells[array.start : array.start + array.delete_count] = array.cells or []
        for closed in structure.did_close or ():
            self.texts.pop(closed.uri, None)
        for opened in structure.did_open or ():
            self.texts[opened.uri] = opened

    def document(self, path: Path) -> Document:
        """The notebook as one text, as it is read from a file, with the rows of each cell."""
        pieces: list[str] = []
        parts: list[Part] = []
        row = 0
        for number, cell in enumerate(self.cells, 1):
            item = self.texts.get(cell.document)
            code = _python(cell, item)
            if item is None or code is None:
                continue
            ended = code if code.endswith("\n") else code + "\n"
            rows = len(split_lines(ended))
            parts.append(Part(item.uri, item.version, row + 1, rows))
            pieces.append(f"{CELL_MARK}{number}\n{ended}")
            row += 1 + rows
        shown = {part.uri for part in parts}
        others = tuple(c.document for c in self.cells if c.document not in shown)
        return Document(self.uri, path, self.version, "".join(pieces), tuple(parts), others)


def opened(params: types.DidOpenNotebookDocumentParams) -> Notebook:
    """A notebook as the client opens it."""
    document = params.notebook_document
    texts: Mapping[str, types.TextDocumentItem] = {i.uri: i for i in params.cell_text_documents}
    return Notebook(document.uri, document.version, [*document.cells], dict(texts))


def _python(cell: types.NotebookCell, item: types.TextDocumentItem | None) -> str | None:
    """The Python of a cell; None where there is none."""
    is_code = cell.kind is types.NotebookCellKind.Code
    if item is None or not is_code or item.language_id != "python" or not item.text.strip():
        return None
    return hidden(item.text)
