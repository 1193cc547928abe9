"""Lock files: the one version of torch that a project is installed with.

They have megabytes, most of them about other packages. So they are searched, not parsed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from tclint.json_text import parse_json
from tclint.regexes import regex
from tclint.torch_bounds.releases import BoundsError, Version, minor_version
from tclint.torch_bounds.text import read_bytes, table

_TORCH: Final = regex(rb"""^name\s*=\s*["'][Tt]orch["']\s*$""", re.MULTILINE)
_BLOCK: Final = regex(rb"^\[", re.MULTILINE)
_PACKAGES: Final = regex(rb"^\[\[?(?:package|metadata|requires)", re.MULTILINE)
_VERSION: Final = regex(rb"""^version\s*=\s*["']([^"']*)["']""", re.MULTILINE)
_ARCHIVE: Final = regex(
    rb"[/\s](?:pytorch|pytorch-cpu|pytorch-gpu|torch)-(\d[^-/\s]*)-[^/\s]+\.(?:conda|tar\.bz2|whl)"
)
_ENTRY: Final = regex(
    rb"""^\s*(?:- )?name: ["']?(?:pytorch|torch)["']?\s*\n\s+version: ["']?([\d.]+[^"'\s]*)""",
    re.MULTILINE,
)
_YAML: Final = regex(rb"^(?:version|metadata|package|packages):", re.MULTILINE)
_CONFLICTS: Final = (b"\n<<<<<<< ", b"\n>>>>>>> ")


def _toml(data: bytes) -> Iterator[str]:
    if _PACKAGES.search(data) is None:
        raise BoundsError("is not a lock file: it has no packages")
    for name in _TORCH.finditer(data):
        start = data.rfind(b"\n[", 0, name.start())
        end = _BLOCK.search(data, name.end())
        version = _VERSION.search(data, max(start, 0), end.start() if end else len(data))
        if version is None:
            raise BoundsError("its entry for torch has no version")
        yield version[1].decode("ascii", "replace")


def _yaml(data: bytes) -> Iterator[str]:
    if _YAML.search(data) is None:
        raise BoundsError("is not a lock file: it has no packages")
    for pattern in (_ARCHIVE, _ENTRY):
        for found in pattern.finditer(data):
            yield found[1].decode("ascii", "replace").replace("%2B", "+")


def _pipenv(data: bytes) -> Iterator[str]:
    try:
        locked = parse_json(data, numbers=False)
    except ValueError as error:
        raise BoundsError(f"not valid JSON: {error}") from error
    for group in ("default", "develop"):
        version = table(locked, group, "torch").get("version")
        if isinstance(version, str):
            yield version.lstrip("= ")


LOCKS: Final[dict[str, Callable[[bytes], Iterator[str]]]] = {
    "uv.lock": _toml,
    "poetry.lock": _toml,
    "pdm.lock": _toml,
    "pylock.toml": _toml,
    "pixi.lock": _yaml,
    "conda-lock.yml": _yaml,
    "Pipfile.lock": _pipenv,
}
"""The names of lock files, and what searches each for the versions of torch in it."""


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
    return sorted({minor_version(text) for text in LOCKS[file.name](data)})
