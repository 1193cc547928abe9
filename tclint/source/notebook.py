"""Jupyter notebooks: their code cells as one Python text, and edits of it back in the JSON.

In the text every code cell follows a marking line, so that the text alone tells which cell a row
belongs to. Lines that only IPython understands are hidden in comments.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from tclint.diagnostics import Position, Span
from tclint.json_text import parse_json
from tclint.records import record
from tclint.regexes import regex
from tclint.source.errors import SourceError
from tclint.source.file import CELL_MARK, SourceFile, spliced
from tclint.source.magics import hidden, shown

SUFFIX: Final = ".ipynb"
_TOKEN: Final = regex(r'\s*("(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+)', re.DOTALL)
_MARK_LINE: Final = regex(re.escape(CELL_MARK) + r"(\d+)\n")


@record(frozen=True)
class _Cell:
    """A code cell: the places of its string literals in the JSON, and what they hold.

    ``listed`` tells a list of lines from a single string.
    """

    number: int
    places: tuple[tuple[int, int], ...]
    lines: tuple[str, ...]
    listed: bool

    @property
    def code(self) -> str:
        return "".join(self.lines)


def decode_notebook(path: Path, data: bytes) -> SourceFile:
    """The Python of a notebook; a notebook of another language has none.

    Raises:
        SourceError: the bytes are not a notebook.
    """
    try:
        raw = data.decode("utf-8")
        notebook = parse_json(raw, numbers=False)
    except UnicodeDecodeError as error:
        raise SourceError(path, f"not UTF-8, as notebooks must be (byte {error.start})") from error
    except json.JSONDecodeError as error:
        place = Position(error.lineno, error.colno)
        raise SourceError(path, f"not a notebook: {error.msg}", Span(place, place)) from error
    except ValueError as error:
        raise SourceError(path, f"not a notebook: {error}") from error
    if not _is_notebook(notebook):
        raise SourceError(path, "not a notebook: no list of `cells`, as notebooks have since v4")
    cells = _python_cells(raw, notebook) if _is_python(notebook) else []
    text = "".join(f"{CELL_MARK}{cell.number}\n{_ended(code)}" for cell, code in cells)
    return SourceFile.from_text(path, text)


def with_text(data: bytes, text: str) -> bytes:
    """The notebook in which the code cells hold a new text; all other bytes stay."""
    return spliced(data.decode("utf-8"), edits_of(data, text)).encode("utf-8")


def edits_of(data: bytes, text: str) -> list[tuple[int, int, str]]:
    """What to change in the JSON so that the code cells hold a new text."""
    raw = data.decode("utf-8")
    after = _split(text)
    return [
        edit
        for cell, code in _python_cells(raw, parse_json(raw, numbers=False))
        if (new := after.get(cell.number, _ended(code))) != _ended(code)
        for edit in _edits(raw, cell, _as_ended(shown(new), cell.code))
    ]


def cells_of(text: str) -> dict[int, str]:
    """The code of each cell of a text, by number, as people see it."""
    return {number: shown(code) for number, code in _split(text).items()}


def json_rows(data: bytes) -> dict[int, int]:
    """Which line of the JSON a row of the Python text stands on, where each has its own."""
    raw = data.decode("utf-8")
    rows: dict[int, int] = {}
    begins = [*accumulate((len(line) + 1 for line in raw.split("\n")), initial=0)]
    row = 0
    for cell, code in _python_cells(raw, parse_json(raw, numbers=False)):
        row += 1
        for number in range(code.count("\n") + (not code.endswith("\n"))):
            row += 1
            start, _ = cell.places[min(number, len(cell.places) - 1)]
            rows[row] = bisect_right(begins, start)
    return rows


def _is_notebook(notebook: Any) -> bool:
    return isinstance(notebook, dict) and isinstance(notebook.get("cells"), list)


def _is_python(notebook: dict[str, Any]) -> bool:
    """Whether a notebook's kernel runs Python; one that does not say is taken to."""
    metadata = notebook.get("metadata")
    spoken = metadata if isinstance(metadata, dict) else {}
    names = [
        spoken[key].get(name)
        for key, name in (("language_info", "name"), ("kernelspec", "language"))
        if isinstance(spoken.get(key), dict)
    ]
    return next((name for name in names if isinstance(name, str)), "python") == "python"


def _python_cells(raw: str, notebook: dict[str, Any]) -> list[tuple[_Cell, str]]:
    """The code cells with the Python that they come to."""
    found = []
    abouts = notebook["cells"]
    for cell in _cells(raw):
        # A key that is there twice makes the JSON mean less than it spells.
        about = abouts[cell.number - 1] if cell.number <= len(abouts) else None
        if not isinstance(about, dict) or _source(about) != cell.code:
            continue
        if about.get("cell_type") == "code" and cell.code.strip():
            code = hidden(cell.code)
            if code is not None:
                found.append((cell, code))
    return found


def _source(about: dict[str, Any]) -> str | None:
    """What a cell's ``source`` holds, if it is of one of the two forms."""
    source = about.get("source")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    return source if isinstance(source, str) else None


def _cells(raw: str) -> Iterator[_Cell]:
    """The sources of all cells, wherever the JSON puts them."""
    sources: dict[int, list[tuple[int, int, bool]]] = {}
    for path, start, end in _strings(raw):
        match path:
            case ("cells", int(number), "source"):
                sources.setdefault(number, []).append((start, end, False))
            case ("cells", int(number), "source", int()):
                sources.setdefault(number, []).append((start, end, True))
    for number, literals in sources.items():
        places = tuple((start, end) for start, end, _ in literals)
        lines = tuple(json.loads(raw[start:end]) for start, end in places)
        yield _Cell(number + 1, places, lines, literals[0][2])


def _strings(raw: str) -> Iterator[tuple[tuple[str | int, ...], int, int]]:
    """The values that are strings, with the keys and indices that lead to them."""
    path: list[str | int] = []
    in_list: list[bool] = []
    key: str | None = None
    for match in _TOKEN.finditer(raw):
        token = match[1]
        if token in "{[":
            in_list.append(token == "[")
            path.append(0 if token == "[" else "")
            key = None
        elif token in "}]":
            in_list.pop()
            path.pop()
        elif token == ",":
            last = path[-1]
            path[-1] = last + 1 if isinstance(last, int) else ""
        elif token == ":":
            path[-1] = json.loads(key or '""')
        elif token.startswith('"'):
            if in_list and not in_list[-1] and path[-1] == "":
                key = token
            else:
                yield tuple(path), match.start(1), match.end(1)


def _ended(code: str) -> str:
    return code if code.endswith("\n") else code + "\n"


def _as_ended(code: str, like: str) -> str:
    return code if like.endswith("\n") else code.removesuffix("\n")


def _split(text: str) -> dict[int, str]:
    """The cells of a text by number; what stands above the first mark belongs to the first."""
    head, *parts = _MARK_LINE.split(text)
    if parts:
        parts[1] = head + parts[1]
    return {int(number): code for number, code in zip(parts[::2], parts[1::2], strict=True)}


def _edits(raw: str, cell: _Cell, code: str) -> Iterator[tuple[int, int, str]]:
    """What to change in the JSON so that a cell holds other code."""
    ascii_only = raw.isascii()
    if not cell.listed:
        yield (*cell.places[0], json.dumps(code, ensure_ascii=ascii_only))
        return
    lines = code.splitlines(keepends=True)
    separator = _separator(raw, cell)
    matcher = SequenceMatcher(None, cell.lines, lines, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        new = separator.join(json.dumps(line, ensure_ascii=ascii_only) for line in lines[k:m])
        if tag == "replace":
            yield cell.places[i][0], cell.places[j - 1][1], new
        elif tag == "insert" and i < len(cell.places):
            yield cell.places[i][0], cell.places[i][0], new + separator
        elif tag == "insert":
            yield cell.places[-1][1], cell.places[-1][1], separator + new
        elif tag == "delete":
            yield (*_with_separator(cell.places, i, j), "")


def _with_separator(places: Sequence[tuple[int, int]], i: int, j: int) -> tuple[int, int]:
    """The stretch of some lines with one of the separators around them."""
    if j < len(places):
        return places[i][0], places[j][0]
    return (places[i - 1][1] if i else places[i][0]), places[j - 1][1]


def _separator(raw: str, cell: _Cell) -> str:
    """What stands between two lines; before the first one where there is no second."""
    if len(cell.places) > 1:
        return raw[cell.places[0][1] : cell.places[1][0]]
    start = cell.places[0][0]
    return "," + (raw[raw.rindex("[", 0, start) + 1 : start] or " ")
