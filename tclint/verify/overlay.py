"""Import modules from texts that are not on the disk yet, such as fixed files."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import linecache
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import CodeType, ModuleType

_texts: dict[str, str] = {}


class OverlayLoader(importlib.machinery.SourceFileLoader):
    """Loads one module from a text, under the name of the file that it stands for."""

    def __init__(self, name: str, path: str, text: str) -> None:
        """Remember the text to compile instead of the file's."""
        super().__init__(name, path)
        self._text = text

    def get_source(self, fullname: str) -> str:
        """The overlay's text, for ``inspect`` and tracebacks."""
        return self._text

    def get_code(self, fullname: str) -> CodeType:
        """Compile the overlay's text; byte-code caches belong to the file, so none is used."""
        return compile(self._text, self.path, "exec", dont_inherit=True)


def loader_for(name: str, path: Path) -> OverlayLoader | None:
    """The loader for a file that is imported by its path; None if it has no overlay."""
    text = _texts.get(str(path.resolve()))
    return None if text is None else OverlayLoader(name, str(path), text)


class OverlayFinder(importlib.abc.MetaPathFinder):
    """Finds modules as usual, then swaps the loader of those that have an overlay."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Take the texts by absolute path."""
        self._texts = texts

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find ``fullname`` on the path, with our loader if its file is overlaid."""
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None:
            return None
        origin = str(Path(spec.origin).resolve())
        if origin not in self._texts:
            return None
        spec.loader = OverlayLoader(fullname, spec.origin, self._texts[origin])
        return spec


def install(texts: Mapping[str, str]) -> None:
    """Import these files' modules from the given texts from now on; keys are resolved paths."""
    if not texts:
        return
    _texts.update(texts)
    sys.meta_path.insert(0, OverlayFinder(texts))
    for path, text in texts.items():
        # No modification time: linecache then never looks at the disk for this file.
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
