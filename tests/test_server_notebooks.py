"""Notebooks in the editor: which cell a place is in, and edits that stay within cells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from lsprotocol import types

from tclint.diagnostics import Edit, Position, Span
from tclint.server.document import Analysis, Document
from tclint.server.notebooks import Notebook
from tclint.server.positions import Columns
from tclint.server.rewriting import workspace_edit
from tclint.source.file import SourceFile
from tests.server_fake import analysis_of

PATH = Path("/project/net.ipynb")
CODE = types.NotebookCellKind.Code
MARKUP = types.NotebookCellKind.Markup


def notebook(*texts: str) -> Notebook:
    cells = [types.NotebookCell(CODE, f"cell:{n}") for n in range(len(texts))]
    items = {f"cell:{n}": types.TextDocumentItem(f"cell:{n}", "python", 1, t)
             for n, t in enumerate(texts)}  # fmt: skip
    return Notebook(PATH.as_uri(), 1, cells, items)


def analysed(document: Document) -> Analysis:
    analysis = analysis_of(document.text, PATH)
    return replace(analysis, document=document, file=SourceFile.from_text(PATH, document.text))


def test_cells_with_python_are_one_text() -> None:
    book = notebook("import torch", "", "%%bash\nls\n", "x = 1\n")
    book.cells[0].kind = MARKUP
    book.cells.append(types.NotebookCell(CODE, "cell:unknown"))
    document = book.document(PATH)
    assert document.text == "# %%tclint-cell 4\nx = 1\n"
    assert [(cell.uri, cell.above, cell.rows) for cell in document.cells] == [("cell:3", 1, 1)]
    assert set(document.others) == {"cell:0", "cell:1", "cell:2", "cell:unknown"}


def test_places_lead_to_their_cells() -> None:
    document = notebook("a\nb", "c\n").document(PATH)
    assert [document.part_at(row).uri for row in range(1, 7)] == [
        "cell:0", "cell:0", "cell:0", "cell:0", "cell:1", "cell:1",
    ]  # fmt: skip
    assert document.part("cell:1") == document.cells[1]


@pytest.mark.parametrize(
    ("edit", "uri", "area", "text"),
    [
        (((2, 1), (2, 2), "x"), "cell:0", (0, 0, 0, 1), "x"),
        (((3, 1), (4, 1), "x\n"), "cell:0", (1, 0, 1, 1), "x"),
        (((4, 1), (4, 1), "x\n"), "cell:0", (1, 1, 1, 1), "\nx"),
        (((1, 1), (1, 1), "x\n"), "cell:0", (0, 0, 0, 0), "x\n"),
        (((5, 1), (5, 1), "x\n"), "cell:1", (0, 0, 0, 0), "x\n"),
    ],
    ids=["within", "the last line", "behind a cell", "above all", "at the head of a cell"],
)
def test_edits_stay_within_a_cell(
    edit: tuple[tuple[int, int], tuple[int, int], str],
    uri: str,
    area: tuple[int, int, int, int],
    text: str,
) -> None:
    analysis = analysed(notebook("a\nb", "c\n").document(PATH))
    start, end, content = edit
    wanted = Edit(Span(Position(*start), Position(*end)), content)
    changes = workspace_edit(analysis, [wanted], Columns(), versioned=False).changes
    place = types.Range(types.Position(*area[:2]), types.Position(*area[2:]))
    assert changes == {uri: [types.TextEdit(place, text)]}


def test_cells_come_go_and_change() -> None:
    book = notebook("a\n", "b\n")
    new = types.TextDocumentItem("cell:new", "python", 1, "n\n")
    array = types.NotebookCellArrayChange(1, 1, [types.NotebookCell(CODE, "cell:new")])
    structure = types.NotebookDocumentCellChangeStructure(
        array, [new], [types.TextDocumentIdentifier("cell:1")]
    )
    content = types.NotebookDocumentCellContentChanges(
        types.VersionedTextDocumentIdentifier(2, "cell:0"),
        [
            types.TextDocumentContentChangePartial(
                types.Range(types.Position(0, 0), types.Position(0, 1)), "ä😋"
            )
        ],
    )
    changes = types.NotebookDocumentCellChanges(structure, text_content=[content])
    book.change(
        types.DidChangeNotebookDocumentParams(
            types.VersionedNotebookDocumentIdentifier(2, book.uri),
            types.NotebookDocumentChangeEvent(cells=changes),
        ),
        Columns(),
    )
    assert book.document(PATH).text == "# %%tclint-cell 1\nä😋\n# %%tclint-cell 2\nn\n"
