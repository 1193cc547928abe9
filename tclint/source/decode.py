"""From bytes to text: marks, coding lines (PEP 263), and errors that name the place."""

from __future__ import annotations

import codecs
import io
import tokenize
from pathlib import Path
from typing import Final

from tclint.diagnostics import Position, Span
from tclint.files import LARGEST_TEXT, TooLargeError, read_bytes, too_large
from tclint.regexes import regex
from tclint.source.errors import SourceError, reason
from tclint.source.file import SourceFile

MAX_BYTES: Final = LARGEST_TEXT
_NOT_IN_IT: Final = "the file is not in the encoding that its coding line names"
"""No file written by people comes near this; a bigger one is data or a generator's mistake."""

_UTF16_32_MARKS: Final = (
    codecs.BOM_UTF32_LE,
    codecs.BOM_UTF32_BE,
    codecs.BOM_UTF16_LE,
    codecs.BOM_UTF16_BE,
)
_LINE_END: Final = regex(rb"\r\n|\r|\n")
_NOT_ASCII: Final = regex(rb"[\x80-\xff]")


def read_source(path: Path) -> SourceFile:
    """Read and decode one file.

    Raises:
        SourceError: the file cannot be read, is not a regular file, is too big, or its bytes are
            not text in the encoding that it declares.
    """
    try:
        data = read_bytes(path, MAX_BYTES)
    except TooLargeError as error:
        raise SourceError(path, f"{reason(error)} for a Python file; exclude it") from None
    except OSError as error:
        raise SourceError(path, f"cannot read: {reason(error)}") from error
    return decode(path, data)


def decode(path: Path, data: bytes) -> SourceFile:
    """Decode bytes as Python would; of a notebook, the Python in its cells.

    Raises:
        SourceError: the bytes are not text in the encoding that they declare, or no notebook.
    """
    if len(data) > MAX_BYTES:
        raise SourceError(path, _too_big(len(data)))
    if path.suffix == ".ipynb":
        from tclint.source.notebook import decode_notebook

        return decode_notebook(path, data)
    encoding = _encoding(path, data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise _undecodable(path, data, encoding, error) from error
    except LookupError as error:
        raise _no_text(path, data, error) from error
    except UnicodeError as error:
        raise SourceError(path, _NOT_IN_IT, _coding_line(data)) from error
    return SourceFile.from_text(path, text, encoding)


def _encoding(path: Path, data: bytes) -> str:
    """The codec of a file's bytes."""
    head = _first_two_lines(data)
    if not data.startswith(codecs.BOM_UTF8) and b"coding" not in head:
        if data.startswith(_UTF16_32_MARKS):
            raise SourceError(
                path,
                "the file is UTF-16 or UTF-32, which Python does not read; save it as UTF-8",
                _place(1, 1),
            )
        return "utf-8"
    try:
        return tokenize.detect_encoding(io.BytesIO(_ascii(head)).readline)[0]
    except SyntaxError as error:
        raise _bad_declaration(path, data, error) from error
    except LookupError as error:  # since Python 3.14, which decodes the two lines to find out
        raise _no_text(path, data, error) from error
    except UnicodeError as error:
        raise SourceError(path, _NOT_IN_IT, _coding_line(data)) from error


def _ascii(head: bytes) -> bytes:
    """Make two lines harmless for detect_encoding, which is stricter than the parser.

    It wants them to be UTF-8 even when the coding line says otherwise, and does not know that a
    lone carriage return ends a line.
    """
    mark = codecs.BOM_UTF8 if head.startswith(codecs.BOM_UTF8) else b""
    return mark + _LINE_END.sub(b"\n", _NOT_ASCII.sub(b"?", head[len(mark) :]))


def _first_two_lines(data: bytes) -> bytes:
    end = 0
    for _ in range(2):
        match = _LINE_END.search(data, end)
        if match is None:
            return data
        end = match.end()
    return data[:end]


def _bad_declaration(path: Path, data: bytes, error: SyntaxError) -> SourceError:
    """Say what is wrong with a coding line."""
    text = str(error)
    if text.startswith("unknown encoding"):
        name = text.partition(":")[2].strip()
        message = f"unknown encoding {name[:40]!r} in the coding line; name one that Python knows"
    elif not data.startswith(codecs.BOM_UTF8):
        message = _NOT_IN_IT
    else:
        message = (
            "the file starts with a UTF-8 byte order mark but its coding line says otherwise; "
            "remove one of the two"
        )
    return SourceError(path, message, _coding_line(data))


def _no_text(path: Path, data: bytes, error: LookupError) -> SourceError:
    """Say that a coding line names a codec that is not one of text."""
    return SourceError(path, f"the coding line names no encoding: {error}", _coding_line(data))


def _undecodable(path: Path, data: bytes, encoding: str, error: UnicodeDecodeError) -> SourceError:
    """Point at the first byte that is not text, and name the way out."""
    mark = len(codecs.BOM_UTF8) if encoding == "utf-8-sig" else 0
    start = error.start + mark
    lines = _LINE_END.split(data[mark:start])
    byte = f"byte 0x{data[start]:02x}" if start < len(data) else "the end of the file"
    if encoding.startswith("utf-8"):
        column = len(lines[-1].decode("utf-8", "replace")) + 1
        message = (
            f"{byte} is not UTF-8; save the file as UTF-8, or name its encoding in the first "
            "line, e.g. `# -*- coding: latin-1 -*-`"
        )
    else:
        column = len(lines[-1]) + 1
        message = f"{byte} is not {encoding}, the encoding that the coding line names"
    return SourceError(path, message, _place(len(lines), column))


def _coding_line(data: bytes) -> Span:
    lines = _LINE_END.split(_first_two_lines(data))
    return _place(2 if len(lines) > 1 and b"coding" not in lines[0] else 1, 1)


def _place(row: int, column: int) -> Span:
    position = Position(row, column)
    return Span(position, position)


def _too_big(size: int) -> str:
    return f"{too_large(size, MAX_BYTES)} for a Python file; exclude it"
