"""Files as symbol tables that stay from one analysis to the next, for as long as their texts do."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

from tclint.files import Version, version_of
from tclint.lint.reading import KEPT, Reader, take_apart
from tclint.records import record
from tclint.semantics.symbols import ModuleInfo
from tclint.server.splice import reparsed
from tclint.source.errors import FileError
from tclint.source.file import SourceFile
from tclint.source.parse import parse


@record(frozen=True)
class _Loaded:
    """What came of reading a file, and what that holds for: a text, or a version on disk."""

    name: str
    state: str | Version | None
    module: ModuleInfo | None
    error: FileError | None
    broken: SourceFile | None


class KeptReader(Reader):
    """A reader that reads again only what has changed.

    ``overlay`` may be replaced between analyses. Of each text in it the last tree is remembered,
    so that the next one is made of it.
    """

    def __init__(self, overlay: Mapping[Path, str]) -> None:
        super().__init__(overlay)
        self._loaded: dict[Path, _Loaded] = {}
        self._trees: dict[Path, tuple[SourceFile, ast.Module]] = {}

    def show(self, overlay: Mapping[Path, str]) -> None:
        """Take over the texts of a new state of the editor."""
        self._overlay = overlay
        for path in self._trees.keys() - overlay.keys():
            del self._trees[path]

    def load(self, name: str, path: Path) -> ModuleInfo | None:
        """The symbol table of a file; None when it cannot be read or parsed."""
        text = self._overlay.get(path)
        state = version_of(path) if text is None else text
        known = self._loaded.pop(path, None)
        if known is None or known.state != state or known.name != name or state is None:
            known = self._read_anew(name, path, state, known)
        self._loaded[path] = known  # the latest used are the last
        self._tell(path, known)
        return known.module

    def tree(self, file: SourceFile) -> ast.Module:
        """The syntax of a file, made of its last one where it is open and little has changed.

        Raises:
            SourceError: it cannot be parsed.
        """
        if file.path not in self._overlay:
            return parse(file)
        known = self._trees.get(file.path)
        tree = reparsed(*known, file) if known is not None else None
        tree = parse(file) if tree is None else tree
        self._trees[file.path] = file, tree
        return tree

    def forget(self, keep: int = KEPT) -> None:
        """Let go of the files that were used least lately, where they are many."""
        sizes = {p: len(k.module.file.text) for p, k in self._loaded.items() if k.module}
        room = sum(sizes.values()) - keep
        for path, size in sizes.items():
            if room <= 0:
                return
            room -= size
            dropped = self._loaded.pop(path).module
            if dropped is not None:
                take_apart(dropped)

    def _read_anew(
        self, name: str, path: Path, state: str | Version | None, known: _Loaded | None
    ) -> _Loaded:
        self.errors.pop(path, None)
        self.broken.pop(path, None)
        self.unreadable.discard(path)
        module = self._read(name, path)
        if known is not None and known.module is not None:
            take_apart(known.module)
        return _Loaded(name, state, module, self.errors.get(path), self.broken.get(path))

    def _tell(self, path: Path, known: _Loaded) -> None:
        if known.error is not None:
            self.errors[path] = known.error
        if known.broken is not None:
            self.broken[path] = known.broken
