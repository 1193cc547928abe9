"""Reading the files that may speak of torch."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Any, Final

from tclint import files
from tclint.source.errors import reason
from tclint.torch_bounds.releases import BoundsError

LARGEST: Final = 64 * 2**20
"""Bytes of a file that is read; no lock file comes near it."""
_MARKS: Final = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def read_bytes(file: Path) -> bytes:
    """The content of a file.

    Raises:
        BoundsError: it cannot be read, or is too large.
    """
    try:
        return files.read_bytes(file, LARGEST)
    except OSError as error:
        raise BoundsError(f"cannot be read: {reason(error)}") from error


def read_text(file: Path) -> str:
    """The text of a file: UTF-8, or what the mark at its beginning says.

    Raises:
        BoundsError: it cannot be read, or is no text.
    """
    data = read_bytes(file)
    encoding = _MARKS.get(data[:2], "utf-8-sig")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise BoundsError(f"is not UTF-8 (byte {error.start})") from error
    if "\0" in text:
        raise BoundsError("is not text: it has a NUL byte")
    return text


def names_torch(text: str) -> bool:
    """Whether a file may speak of torch, so that it is worth parsing."""
    return "torch" in text.lower()


def table(value: Any, *names: str) -> dict[str, Any]:
    """A table inside tables; an empty one where there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """A list; an empty one where there is none."""
    return value if isinstance(value, list) else []
