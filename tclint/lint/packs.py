"""Rule packs: the entry points of installed packages.

``importlib.metadata`` finds them as well. With the parsers that it needs, its import takes a tenth
of a start, and it reads more of what a package says about itself than is asked. So it only looks
where packages may be in something else than plain folders.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.machinery import PathFinder
from typing import Any, Final

from tclint.records import record

_ABOUT: Final = {".dist-info": "METADATA", ".egg-info": "PKG-INFO"}


@record(frozen=True)
class Pack:
    """An entry point, with the headers of what its package says about itself."""

    name: str
    value: str
    headers: str = ""

    @property
    def module(self) -> str:
        """The module that it is in."""
        return self._parts()[0]

    def load(self) -> Any:
        """What it names, imported now."""
        module, names = self._parts()
        found: Any = import_module(module)
        for name in filter(None, names.split(".")):
            found = getattr(found, name)
        return found

    def page(self, label: str) -> str | None:
        """The address that the package gives a project URL with this label."""
        for line in self.headers.splitlines():
            header, _, value = line.partition(":")
            named, _, address = value.partition(",")
            if header.lower() == "project-url" and named.strip() == label:
                return address.strip()
        return None

    def _parts(self) -> tuple[str, str]:
        module, _, names = self.value.partition("[")[0].partition(":")
        return module.strip(), names.strip()


def installed_packs(group: str) -> list[Pack]:
    """The entry points of a group, in the order of the folders that Python imports from."""
    if any(hasattr(f, "find_distributions") and f is not PathFinder for f in sys.meta_path):
        return _asked(group)
    found: dict[str, list[Pack]] = {}
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")  # noqa: PTH208 (hundreds of names, in every run)
        except NotADirectoryError:
            return _asked(group)
        except OSError:
            continue
        if folder.lower().endswith(".egg"):
            return _asked(group)
        for name in names:
            stem, kind = os.path.splitext(name)  # noqa: PTH122
            if kind in _ABOUT:
                distribution = stem.partition("-")[0].lower().replace(".", "_")
                if distribution not in found:
                    found[distribution] = [*_packs_in(os.path.join(folder, name), group)]  # noqa: PTH118
    return [pack for packs in found.values() for pack in packs]


def _packs_in(folder: str, group: str) -> Iterator[Pack]:
    inside, headers = False, None
    for line in map(str.strip, _text(folder, "entry_points.txt").splitlines()):
        if line.startswith("[") and line.endswith("]"):
            inside = line[1:-1] == group
        elif inside and "=" in line and not line.startswith("#"):
            if headers is None:
                about = _text(folder, _ABOUT[os.path.splitext(folder)[1]])  # noqa: PTH122
                headers = about.partition("\n\n")[0]
            name, _, value = line.partition("=")
            yield Pack(name.strip(), value.strip(), headers)


def _text(folder: str, name: str) -> str:
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:  # noqa: PTH118, PTH123
            return file.read()
    except OSError:
        return ""


def _asked(group: str) -> list[Pack]:
    from importlib.metadata import entry_points

    found = []
    for entry in entry_points(group=group):
        about = entry.dist.read_text("METADATA") if entry.dist is not None else None
        found.append(Pack(entry.name, entry.value, (about or "").partition("\n\n")[0]))
    return found
