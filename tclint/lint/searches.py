"""The imports that an analysis followed, in little space: there are thousands in a shard."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

LARGEST: Final = 64 * 2**20
"""Characters of paths and names that they unfold to at most."""


def packed(searches: Mapping[tuple[str, str], Path | None]) -> str:
    """Imports, each by the folder and the name that were searched, and the file found or None."""
    folders: dict[str, dict[str, str | None]] = {}
    for (folder, name), found in searches.items():
        folders.setdefault(folder, {})[name] = None if found is None else str(found)
    text = json.dumps(folders, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 1)).decode()


def unpacked(text: str) -> list[tuple[str, str, str | None]]:
    """Folder, name and file of each import.

    Raises:
        ValueError: the text is damaged.
    """
    try:
        unfolded = zlib.decompressobj()
        folders = json.loads(unfolded.decompress(base64.b64decode(text), LARGEST))
        rows = [
            (folder, name, found)
            for folder, names in folders.items()
            for name, found in names.items()
        ]
    except (zlib.error, AttributeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    if not all(found is None or isinstance(found, str) for _, _, found in rows):
        raise ValueError("no path")
    return rows
