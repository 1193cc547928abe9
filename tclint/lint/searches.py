"""The imports that an analysis followed, in little space: there are thousands in a shard."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path


def packed(searches: Mapping[tuple[str, str], Path | None]) -> str:
    """Imports, each by the folder and the name that were searched, and the file found or None."""
    folders: dict[str, dict[str, str | None]] = {}
    for (folder, name), found in searches.items():
        folders.setdefault(folder, {})[name] = None if found is None else str(found)
    text = json.dumps(folders, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 1)).decode()


def unpacked(text: str) -> Iterator[tuple[str, str, str | None]]:
    """Folder, name and file of each import.

    Raises:
        ValueError: the text is damaged.
    """
    try:
        folders = json.loads(zlib.decompress(base64.b64decode(text)))
    except zlib.error as error:
        raise ValueError(str(error)) from error
    for folder, names in folders.items():
        for name, found in names.items():
            yield folder, name, found
