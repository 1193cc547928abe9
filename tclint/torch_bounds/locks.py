"""Lock files: the one version of torch that a project is installed with.

They have megabytes, most of them about other packages. So they are searched, not parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tclint.regexes import regex
from tclint.torch_bounds.releases import BoundsError, Version, minor_version
from tclint.torch_bounds.text import read_bytes

_TORCH: Final = regex(rb"""^name\s*=\s*["'][Tt]orch["']\s*$""", re.MULTILINE)
_BLOCK: Final = regex(rb"^\[", re.MULTILINE)
_PACKAGES: Final = regex(rb"^\[\[?(?:package|metadata|requires)", re.MULTILINE)
_VERSION: Final = regex(rb"""^version\s*=\s*["']([^"']*)["']""", re.MULTILINE)
_CONFLICTS: Final = (b"\n<<<<<<< ", b"\n>>>>>>> ")


def _versions(data: bytes) -> Iterator[str]:
    if _PACKAGES.search(data) is None:
        raise BoundsError("is not a lock file: it has no packages")
    for name in _TORCH.finditer(data):
        start = data.rfind(b"\n[", 0, name.start())
        end = _BLOCK.search(data, name.end())
        version = _VERSION.search(data, max(start, 0), end.start() if end else len(data))
        if version is None:
            raise BoundsError("its entry for torch has no version")
        yield version[1].decode("ascii", "replace")


LOCKS: Final = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml")
"""The names of lock files."""


def locked(file: Path) -> list[Version]:
    """The versions of torch in a lock file, the oldest first: platforms may differ.

    Raises:
        BoundsError: it cannot be read or is damaged.
    """
    data = read_bytes(file)
    if b"\0" in data:
        raise BoundsError("is not text: it has a NUL byte")
    if any(mark in data or data.startswith(mark[1:]) for mark in _CONFLICTS):
        raise BoundsError("has the marks of a merge that is not done")
    return sorted({minor_version(text) for text in _versions(data)})
