"""All files of a run as one program: which module a name leads to, which class inherits what."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tclint.semantics.collect import collect_module, dotted_name
from tclint.semantics.symbols import ClassInfo, FunctionInfo, ModuleInfo

MODULE_CLASSES = frozenset({"torch.nn.Module", "torch.nn.modules.module.Module"})
MAX_BASES = 32


class Project:
    """The symbol tables of the files under analysis, loaded when something asks for them.

    ``load`` parses a file into its symbol table under the given dotted name, or answers None when
    the file cannot be read.
    """

    def __init__(
        self, paths: Iterable[Path], load: Callable[[str, Path], ModuleInfo | None]
    ) -> None:
        """Index ``paths`` by the dotted names under which Python would import them."""
        self._load = load
        self._names: dict[Path, str] = {path: module_name(path) for path in paths}
        self._paths: dict[str, Path] = {}
        for path, name in self._names.items():
            self._paths.setdefault(name, path)
        self._modules: dict[Path, ModuleInfo | None] = {}
        self._by_text: dict[str, Path] = {str(path): path for path in self._names}
        self._folders: dict[ModuleInfo, str] = {}
        self._ancestries: dict[ClassInfo, tuple[ClassInfo | str, ...]] = {}
        self._found: dict[tuple[str, str], Path | None] = {}

    def module_at(self, path: Path) -> ModuleInfo | None:
        """The symbol table of a file of the run; None when it does not parse."""
        if path not in self._modules:
            self._modules[path] = self._load(self._names[path], path)
        return self._modules[path]

    def module(self, name: str, importer: ModuleInfo | None = None) -> ModuleInfo | None:
        """The module that ``import name`` finds from ``importer``, within the run's files."""
        folder = self._folder(importer) if importer is not None else ""
        key = (folder, name)
        if key not in self._found:
            self._found[key] = self._find(folder, name)
        path = self._found[key]
        return self.module_at(path) if path else None

    def _folder(self, module: ModuleInfo) -> str:
        if module not in self._folders:
            self._folders[module] = str(module.file.path.parent)
        return self._folders[module]

    def _find(self, folder: str, name: str) -> Path | None:
        """A script's imports look in its own folder first."""
        if folder:
            sibling = os.path.join(folder, *name.split(".")) + ".py"  # noqa: PTH118 (hot path)
            if sibling in self._by_text:
                return self._by_text[sibling]
        return self._paths.get(name)

    def lookup(
        self, dotted: str, importer: ModuleInfo | None = None, depth: int = 0
    ) -> ModuleInfo | FunctionInfo | ClassInfo | tuple[ModuleInfo, str] | None:
        """What a dotted name means in the project.

        A pair of a module and a name stands for a top-level variable; None for anything outside.
        """
        module = self.module(dotted, importer)
        if module is not None:
            return module
        head, _, last = dotted.rpartition(".")
        if not head or depth > MAX_BASES:
            return None
        module = self.module(head, importer)
        if module is None:
            owner = self.lookup(head, importer, depth + 1)
            return self.method(owner, last) if isinstance(owner, ClassInfo) else None
        return self.member(module, last, depth)

    def member(
        self, module: ModuleInfo, name: str, depth: int = 0
    ) -> ModuleInfo | FunctionInfo | ClassInfo | tuple[ModuleInfo, str] | None:
        """What a module's top level binds ``name`` to."""
        if name in module.functions:
            return module.functions[name]
        if name in module.classes:
            return module.classes[name]
        if name in module.assigned:
            return module, name
        target = module.imports.get(name)
        if target is None or depth > MAX_BASES:
            return None
        return self.lookup(target, module, depth + 1)

    def bases(self, cls: ClassInfo) -> Iterator[ClassInfo | str]:
        """The direct bases: classes of the project, or dotted names of others."""
        for base in cls.bases:
            node = base.value if isinstance(base, ast.Subscript) else base
            name = dotted_name(cls.module, node)
            if name is None:
                continue
            own = cls.module.classes.get(name)
            found = own if own is not None else self.lookup(name, cls.module)
            yield found if isinstance(found, ClassInfo) else name

    def ancestry(self, cls: ClassInfo) -> tuple[ClassInfo | str, ...]:
        """The class and its bases, depth first and without repetition, nearest first."""
        if cls not in self._ancestries:
            self._ancestries[cls] = tuple(self._ancestry(cls))
        return self._ancestries[cls]

    def _ancestry(self, cls: ClassInfo) -> Iterator[ClassInfo | str]:
        seen: set[ClassInfo | str] = set()
        pending: list[ClassInfo | str] = [cls]
        while pending and len(seen) < MAX_BASES:
            current = pending.pop(0)
            if current in seen:
                continue
            seen.add(current)
            yield current
            if isinstance(current, ClassInfo):
                pending[:0] = list(self.bases(current))

    def method(
        self, cls: ClassInfo, name: str, after: ClassInfo | None = None
    ) -> FunctionInfo | None:
        """The method that attribute look-up finds; with ``after``, what ``super()`` finds there."""
        skipping = after is not None
        for base in self.ancestry(cls):
            if skipping:
                skipping = base is not after
                continue
            if isinstance(base, ClassInfo) and name in base.methods:
                return base.methods[name]
        return None

    def is_module_class(self, cls: ClassInfo) -> bool:
        """True for subclasses of ``torch.nn.Module``, also through bases outside the project.

        A class whose foreign base is unknown counts when it has a ``forward`` method of its own
        and no base that is known to be something else.
        """
        foreign = [base for base in self.ancestry(cls) if isinstance(base, str)]
        if any(name in MODULE_CLASSES or name.startswith("torch.nn.") for name in foreign):
            return True
        if any(name.startswith(("torch.autograd.", "torch.jit.")) for name in foreign):
            return False
        unknown = [name for name in foreign if name.partition(".")[0] not in PLAIN_BASES]
        return bool(unknown) and self.method(cls, "forward") is not None


PLAIN_BASES = frozenset(
    {"object", "abc", "typing", "enum", "dataclasses", "Exception", "dict", "list", "tuple", "str"}
)


def module_name(path: Path) -> str:
    """The dotted name of a file, counted from the outermost folder that is a package."""
    parts = [] if path.stem == "__init__" else [path.stem]
    folder = path.absolute().parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts) or path.absolute().parent.name


__all__ = ["Project", "collect_module", "module_name"]
