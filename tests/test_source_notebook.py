"""Notebooks: their Python, and edits of it that leave the JSON alone."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tclint.source.errors import SourceError
from tclint.source.magics import hidden, shown
from tclint.source.notebook import decode_notebook, json_rows, with_text

PATH = Path("notes.ipynb")


def code(*lines: str) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "outputs": [], "source": list(lines)}


def notebook(*cells: dict[str, Any], indent: int | None = 1, **metadata: Any) -> bytes:
    whole = {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=indent, ensure_ascii=False).encode() + b"\n"


TEXT = {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "1 / 0"]}
BOTH = notebook(code("import torch\n", "x = 1"), TEXT, code("y = x"))


def test_code_cells_become_one_text_and_know_their_number() -> None:
    file = decode_notebook(PATH, BOTH)
    assert [line for line in file.lines if "tclint-cell" not in line] == [
        "import torch\n", "x = 1\n", "y = x\n",
    ]  # fmt: skip
    cell = file.cell(5)
    assert cell is not None
    assert (cell.number, cell.first, cell.last) == (3, 5, 5)
    first = file.cell(3)
    assert first is not None
    assert (first.number, first.first, first.last) == (1, 2, 3)


def test_the_same_text_gives_the_same_bytes() -> None:
    assert with_text(BOTH, decode_notebook(PATH, BOTH).text) == BOTH


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("x = 1\n", "y = 2"), ("x = 1\n", "z = 3\n", "y = 2")),
        (("x = 1\n", "y = 2"), ("x = 1\n", "y = 2\n", "z = 3")),
        (("x = 1\n", "y = 2"), ("y = 2",)),
        (("x = 1\n", "y = 2\n", "z = 3"), ("x = 1\n", "z = 3")),
        (("x = 1\n", "y = 2\n"), ("x = 1\n",)),
        (("x = 1",), ("import os\n", "x = 1")),
        (("x = 'é'\n", "y = 2"), ("x = 'ü'\n", "y = 2")),
    ],
)
@pytest.mark.parametrize("indent", [None, 1, 4])
def test_a_changed_cell_reads_as_json_dump_would_write_it(
    before: tuple[str, ...], after: tuple[str, ...], indent: int | None
) -> None:
    data = notebook(TEXT, code(*before), code("a = 1"), indent=indent)
    text = decode_notebook(PATH, data).text
    old = "".join(before) + ("" if before[-1].endswith("\n") else "\n")
    new = "".join(after) + ("" if after[-1].endswith("\n") else "\n")
    assert with_text(data, text.replace(old, new, 1)) == notebook(
        TEXT, code(*after), code("a = 1"), indent=indent
    )


def test_odd_spacing_and_escapes_outside_the_edited_line_stay() -> None:
    raw = (
        '{ "nbformat":4,"metadata" : {}, "cells":[\n\n{"source" :[ "a = \'\\u00e9\'\\n" ,'
        '"b = 2\\n","c = 3" ],"outputs":[{"text":["\\u003c"]}],"cell_type":"code"}  ]}'
    )
    text = decode_notebook(PATH, raw.encode()).text
    assert with_text(raw.encode(), text.replace("b = 2", "b = 'ä'")).decode() == raw.replace(
        '"b = 2\\n"', "\"b = '\\u00e4'\\n\""
    )


def test_a_cell_that_is_one_string_stays_one() -> None:
    cell = {"cell_type": "code", "source": "x = 1\ny = 2"}
    data = notebook(cell)
    text = decode_notebook(PATH, data).text.replace("y = 2", "y = 3")
    assert with_text(data, text) == notebook({**cell, "source": "x = 1\ny = 3"})


def test_text_above_the_first_cell_goes_into_it() -> None:
    text = "import os\n" + decode_notebook(PATH, BOTH).text
    changed = json.loads(with_text(BOTH, text))
    assert changed["cells"][0]["source"][0] == "import os\n"


MAGICS = [
    ("%matplotlib inline\nx = 1\n", 1),
    ("if x:\n    %time f(x)\n", 1),
    ("files = !ls -l\nx = files\n", 1),
    ("t = %timeit -o f()\n", 1),
    ("!pip install \\\n    torch\nx = 1\n", 2),
    ("torch.compile?\nx = 1\n", 1),
    ("?x\n??y\n", 2),
    ("%%time\nx = f()\n", 1),
]


@pytest.mark.parametrize(("cell", "lines"), MAGICS, ids=[cell for cell, _ in MAGICS])
def test_magics_are_hidden_line_by_line_and_come_back(cell: str, lines: int) -> None:
    python = hidden(cell)
    assert python is not None
    ast.parse(python)
    assert python.count("\n") == cell.count("\n")
    changed = zip(python.splitlines(), cell.splitlines(), strict=True)
    assert sum(new != old for new, old in changed) == lines
    assert shown(python) == cell


def test_a_percent_sign_in_python_is_no_magic() -> None:
    assert hidden("x = (a\n % b)\n") == "x = (a\n % b)\n"


@pytest.mark.parametrize("magic", ["%%bash", "%%html", "%%writefile x.py", "%%sql"])
def test_cells_of_other_languages_are_left_out(magic: str) -> None:
    data = notebook(code(f"{magic}\n", "rm -r"), code("x = 1"))
    assert decode_notebook(PATH, data).text.endswith("tclint-cell 2\nx = 1\n")


def test_a_notebook_of_another_language_holds_no_python() -> None:
    data = notebook(code("println(1)"), kernelspec={"language": "scala"})
    assert decode_notebook(PATH, data).text == ""


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{", "not a notebook: "),
        (b"[]", "not a notebook: no list of `cells`"),
        (b'{"worksheets": []}', "no list of `cells`, as notebooks have since v4"),
        (b"\xff", "not UTF-8"),
        (b"[" * 100_000, "not a notebook: too deeply nested"),
    ],
)
def test_what_is_no_notebook_is_one_error(data: bytes, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        decode_notebook(PATH, data)


def test_numbers_that_nobody_looks_at_may_be_any() -> None:
    for number in (b"9" * 5_000, b"NaN", b"1e999"):
        data = BOTH.replace(b'"nbformat": 4', b'"nbformat": ' + number)
        assert data != BOTH
        assert decode_notebook(PATH, data).text == decode_notebook(PATH, BOTH).text


def test_rows_are_found_in_the_json() -> None:
    rows = json_rows(BOTH)
    lines = BOTH.decode().splitlines()
    assert [(row, lines[line - 1].strip().rstrip(",")) for row, line in rows.items()] == [
        (2, '"import torch\\n"'), (3, '"x = 1"'), (5, '"y = x"'),
    ]  # fmt: skip


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)
LINES = st.lists(st.sampled_from(["x = 1\n", "y = 'é'\n", "%time f()\n", "# c\n"]), max_size=5)


@given(JSON, st.lists(LINES, max_size=4), st.sampled_from([None, 0, 1, 3]))
def test_whatever_else_is_in_the_json_nothing_moves(
    extra: Any, cells: list[list[str]], indent: int | None
) -> None:
    listed = [{**code(*lines), "metadata": {"source": extra}} for lines in cells]
    data = notebook(*listed, indent=indent, x={"cells": [{"source": ["no"]}], "extra": extra})
    text = decode_notebook(PATH, data).text
    assert with_text(data, text) == data
    changed = json.loads(with_text(data, text.replace("x = 1\n", "x = 2\n")))
    wanted = [[line.replace("1", "2") for line in lines] for lines in cells]
    assert [cell["source"] for cell in changed["cells"]] == wanted


@given(st.lists(st.tuples(st.integers(0, 400), st.sampled_from(list('{}[]",:\\\n0a'))), max_size=6))
def test_a_damaged_notebook_is_refused_or_kept(changes: list[tuple[int, str]]) -> None:
    data = bytearray(BOTH)
    for place, character in changes:
        data[place % len(data)] = ord(character)
    try:
        file = decode_notebook(PATH, bytes(data))
    except SourceError:
        return
    assert with_text(bytes(data), file.text) == data


def test_a_source_that_is_there_twice_is_left_alone() -> None:
    raw = b'{"cells": [{"cell_type": "code", "source": "x = 1", "source": ["y = 2"]}]}'
    assert decode_notebook(PATH, raw).text == ""
