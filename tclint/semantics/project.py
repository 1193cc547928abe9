"""All files of a run as one program: which module a name leads to, which class inherits what."""

from __future__ import annotations

import ast
import builtins
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from tclint.regexes import regex
from tclint.semantics.bounds import Bound, Unclear
from tclint.semantics.collect import (
    bindings,
    collect_module,
    dotted_name,
    is_known,
    last_bound,
    listed,
    made_above,
    meaning_several,
    modules_above,
    take_over,
)
from tclint.semantics.inheritance import linearised
from tclint.semantics.installed import Installed
from tclint.semantics.symbols import ClassInfo, FunctionInfo, FunctionNode, ModuleInfo
from tclint.semantics.syntax import NAME, nodes
from tclint.torch_facts.modules import MODULE_CLASSES, MODULE_PACKAGES, NO_MODULES
from tclint.torch_facts.starred import OF_PYTHON

# A package that takes over so many modules whole names each of them after what it holds: only
# those are read.
STARS: Final = Bound(32, "star imports may bring in a name")

SOURCES: Final = ("src", "lib", "python")
"""Folders of a project that hold what it installs."""

INSTALLS: Final = ("setup.py", "setup.cfg", "pyproject.toml")

TABLED: Final = ("torch", "numpy")
"""The packages whose names tables tell."""

BASES: Final = Bound(256, "classes that a class inherits from")

Seen = set[tuple[ModuleInfo, str]]
Meant = ModuleInfo | FunctionInfo | ClassInfo | tuple[ModuleInfo, str] | str | Unclear | None
"""What a name leads to; see `Project.lookup`."""


class Project:
    """The symbol tables of the files under analysis, loaded when something asks for them.

    ``load`` parses a file into its symbol table under the given dotted name, or answers None when
    the file cannot be read. What the files import from elsewhere is looked for in ``installed``.
    """

    def __init__(
        self,
        paths: Iterable[Path],
        load: Callable[[str, Path], ModuleInfo | None],
        installed: Installed | None = None,
    ) -> None:
        """Index ``paths`` by the dotted names under which Python would import them."""
        self._load = load
        self._installed = installed
        self._here = os.getcwd()  # noqa: PTH109 (these are strings: there are many files)
        self._names: dict[Path, str] = module_names(paths)
        self._paths: dict[str, list[Path]] = {}
        for path, name in self._names.items():
            self._paths.setdefault(name, []).append(path)
        self._by_text: dict[str, Path] = {self._text(path): path for path in self._names}
        self._tops: set[str] = set()
        self._listings: dict[str, dict[str, str]] = {}
        self._forget()

    def _text(self, path: Path) -> str:
        """Where a file is, however it was named."""
        text = os.path.join(self._here, path)  # noqa: PTH118
        return os.path.normpath(text) if ".." in text else text

    def _forget(self) -> None:
        """Start without anything that holds a loaded file."""
        self._modules: dict[Path, ModuleInfo | None] = {}
        self._reached: dict[tuple[ModuleInfo | None, str], ModuleInfo] = {}
        self._folders: dict[ModuleInfo, str] = {}
        self._ancestries: dict[ClassInfo | str, tuple[ClassInfo | str, ...]] = {}
        self._found: dict[tuple[str, str], Path | None] = {}
        self._methods: dict[tuple[ClassInfo, str, ClassInfo | None], FunctionInfo | None] = {}
        self._is_module: dict[ClassInfo, bool] = {}
        self._several: dict[ModuleInfo, frozenset[str]] = {}
        self._asked: dict[ClassInfo, frozenset[str]] = {}
        self._overriding: dict[tuple[ClassInfo, str], tuple[ClassInfo, ...]] = {}
        self._listed: dict[ModuleInfo, frozenset[str] | None] = {}
        self._reasons: dict[str, Unclear] = {}
        self._last_bound: dict[tuple[ModuleInfo, str], int] = {}
        self._replaced: dict[ModuleInfo, bool] = {}
        self._scripts: dict[str, bool] = {}
        self._stars: dict[ModuleInfo, dict[str, list[str]]] = {}

    def another(self) -> Project:
        """A project of the same files that has loaded nothing yet."""
        project = Project((), self._load, self._installed.another() if self._installed else None)
        project._names, project._paths = self._names, self._paths
        project._by_text, project._tops = self._by_text, self._tops
        project._listings = self._listings
        return project

    @property
    def asked_for(self) -> tuple[Path, ...]:
        """The files whose symbol tables somebody asked for, those of installed packages too."""
        return (*self._modules, *(self._installed.read if self._installed else ()))

    @property
    def loaded(self) -> list[ModuleInfo]:
        """The symbol tables of the run's own files that somebody asked for."""
        return [module for module in self._modules.values() if module is not None]

    @property
    def searches(self) -> dict[tuple[str, str], Path | None]:
        """The imports that were followed, from folder and name, and the files that they found."""
        return self._found

    def module_at(self, path: Path) -> ModuleInfo | None:
        """The symbol table of a file of the run; None when it does not parse."""
        if path not in self._modules:
            module = self._modules[path] = self._load(self._names[path], path)
            if module is not None and (module.stars or _handed(module)):
                self._take_over(module)
        return self._modules[path]

    def _take_over(self, module: ModuleInfo) -> None:
        """Tell a file what it uses of the names that stars of the project's modules give."""
        stars = [one for one in module.stars if one.partition(".")[0] not in TABLED]
        used = {node.id: None for node in nodes(module.tree) if isinstance(node, NAME)}
        names = [name for name in used if not module.makes(name) and not name.startswith("__")]
        names += made_above(module)
        wanted = dict.fromkeys(stars if len(stars) <= STARS.most else (), names)
        wanted = {**_handed(module), **(wanted if names else {})}
        given = {base: self._given_by(base, module, names) for base, names in wanted.items()}
        known = {base: names for base, names in given.items() if names is not None}
        if known:
            take_over(module, known)

    def _given_by(
        self, star: str, module: ModuleInfo, names: Iterable[str]
    ) -> dict[str, str] | None:
        """Which of some names a star gives, and what they stand for; None for one that is away."""
        path = self.find(self._folder(module), star)
        source = self.module_at(path) if path is not None else None
        if source is None:
            return None
        found = {name: self._handed_on(source, f"{star}.{name}", name) for name in names}
        return {name: dotted for name, dotted in found.items() if dotted is not None}

    def _handed_on(self, source: ModuleInfo, dotted: str, name: str) -> str | None:
        """What a name of a module's stands for where a star brings it; None where none does."""
        if not self.exports(source, name):
            return None
        found = self.member(source, name)
        if isinstance(found, str):
            return found
        return dotted if found is not None or name in bindings(source, source.tree) else None

    def exports(self, module: ModuleInfo, name: str) -> bool:
        """Whether a module's star may bring a name along."""
        names = self.listed(module)
        return not name.startswith("_") if names is None else name in names

    def listed(self, module: ModuleInfo) -> frozenset[str] | None:
        """The names in ``__all__``, see :func:`listed`."""
        if module not in self._listed:
            self._listed[module] = listed(module)
        return self._listed[module]

    def module(
        self, name: str, importer: ModuleInfo | None = None, holding: str = ""
    ) -> ModuleInfo | None:
        """The module that ``import name`` finds from ``importer``.

        With ``holding`` an installed one counts only if it may bind that name.
        """
        known = self._reached.get((importer, name))
        if known is not None:
            return known
        folder = self._folder(importer) if importer is not None else ""
        key = (folder, name)
        if key not in self._found:
            self._found[key] = self.find(folder, name)
        path = self._found[key]
        if path is not None and importer is not None and path == importer.file.path:
            path = path if name == importer.name else None  # no file imports another by its name
        if path is None:
            return self._installed.module(name, importer, holding) if self._installed else None
        module = self.module_at(path)
        if module is not None:
            self._reached[importer, name] = module
        return module

    def _folder(self, module: ModuleInfo) -> str:
        if module not in self._folders:
            self._folders[module] = self.folder_of(module.file.path)
        return self._folders[module]

    def folder_of(self, path: Path) -> str:
        """The folder of a file, in which its imports are looked for first."""
        return os.path.dirname(self._text(path))  # noqa: PTH120

    @property
    def names(self) -> dict[Path, str]:
        """The files by the dotted names under which Python would import them."""
        return self._names

    def find(self, folder: str, name: str) -> Path | None:
        """The file that ``import name`` reads; a script's imports look in its own folder first.

        A package's modules do not see each other so, unless one of them is a script. Folders make
        packages without an ``__init__.py``, too: seen from one of those above. What stands in a
        folder that only a path of the environment leads to is not found.
        """
        tail = f"{os.sep}{name.replace('.', os.sep)}"
        top = name.partition(".")[0]
        sibling = f"{folder.rstrip(os.sep)}{tail}.py" if folder else ""
        package = self._by_text.get(f"{sibling[:-3]}{os.sep}__init__.py")
        if package is not None and not self._is_package(folder):
            return package
        beside = self._by_text.get(sibling)
        if beside is None and folder:
            beside = self._by_text.get(self._leads_to(folder.rstrip(os.sep), f"{tail[1:]}.py"))
        if beside is not None and self._is_on_path(folder, top):
            return beside
        known = self._nearest(folder, name)
        if name == top:
            return self._of_a_script(folder, tail) or known
        if known is None:
            known = self._from_above(folder, top, tail) if folder else None
            return known or self._through_link(*name.rpartition(".")[::2])
        return known

    def _nearest(self, folder: str, name: str) -> Path | None:
        """The file of that name in the nearest folder into which Python looks from another."""
        nearest, found = "", None
        for path in self._paths.get(name, ()):
            parts = name.count(".") + (2 if path.stem == "__init__" else 1)
            base = self._text(path).rsplit(os.sep, parts)[0]
            is_above = f"{folder}{os.sep}".startswith(f"{base}{os.sep}") or not folder
            near = base if is_above else " "
            if near > nearest and (is_above or self._is_added(folder, base, name)):
                nearest, found = near, path
        if found is None and name in self._paths and (real := os.path.realpath(folder)) != folder:
            return self._nearest(real, name)
        return found

    def _is_added(self, folder: str, base: str, name: str) -> bool:
        """Whether Python looks into a folder beside another: for sources and what is installed."""
        above, last = os.path.split(base)
        if last in SOURCES and f"{folder}{os.sep}".startswith(f"{above}{os.sep}"):
            return True
        top = f"{base}{os.sep}{name.partition('.')[0]}"
        if not self._is_package(top):
            return False
        return any(name in self._inside(place) for place in (base, top) for name in INSTALLS)

    def _through_link(self, package: str, name: str) -> Path | None:
        """The package that a link leads to which stands in another one's folder."""
        above = next(iter(self._paths.get(package, ())), None)
        if above is None and "." in package:
            above = self._through_link(*package.rpartition(".")[::2])
        if above is None or above.stem != "__init__":
            return None
        target = self._leads_to(self.folder_of(above), name)
        return self._by_text.get(f"{target}{os.sep}__init__.py")

    def _leads_to(self, folder: str, tail: str) -> str:
        """The file or folder that a link below a folder leads to; nothing for all else."""
        *above, name = tail.split(os.sep)  # noqa: PTH206
        for part in above:
            if part not in self._inside(folder):
                return ""
            folder = f"{folder}{os.sep}{part}"
        return self._inside(folder).get(name, "")

    def _inside(self, folder: str) -> dict[str, str]:
        """What is in a folder, with where it leads to if it is a link."""
        if folder not in self._listings:
            self._listings[folder] = _listing(folder)
        return self._listings[folder]

    def _of_a_script(self, folder: str, tail: str) -> Path | None:
        """The file that an import finds beside the script which stands nearest above."""
        while folder := folder.rpartition(os.sep)[0]:
            beside = self._by_text.get(f"{folder}{tail}.py")
            if beside is not None and self._has_script(folder):
                return beside
        return None

    def _is_on_path(self, folder: str, top: str) -> bool:
        """Whether Python looks into a folder for what its files import, as it does for scripts."""
        if not self._is_package(folder):
            return True
        return top not in sys.stdlib_module_names and self._has_script(folder)

    def _has_script(self, folder: str) -> bool:
        folder = folder.rstrip(os.sep)
        if folder not in self._scripts:
            files = self._by_text.items()
            beside = [path for text, path in files if text.rpartition(os.sep)[0] == folder]
            modules = filter(None, map(self.module_at, beside))
            self._scripts[folder] = any("__main__" in one.file.text for one in modules)
        return self._scripts[folder]

    def _is_package(self, folder: str) -> bool:
        return f"{folder.rstrip(os.sep)}{os.sep}__init__.py" in self._by_text

    def _from_above(self, folder: str, top: str, tail: str) -> Path | None:
        """The file that a path leads to from a folder or the nearest one above it."""
        if not self._tops:
            folders = {os.path.dirname(text) for text in self._by_text}  # noqa: PTH120
            self._tops.update(*(one.split(os.sep) for one in folders))  # noqa: PTH206
        while top in self._tops and folder.strip(os.sep):
            for file in (f"{folder}{tail}.py", f"{folder}{tail}{os.sep}__init__.py"):
                if file in self._by_text:
                    return self._by_text[file]
            folder = folder.rpartition(os.sep)[0]
        return None

    def lookup(
        self, dotted: str, importer: ModuleInfo | None = None, seen: Seen | None = None
    ) -> Meant:
        """What a dotted name means in the project.

        A pair of a module and a name stands for a top-level variable, a text for what a module of
        the project hands on from a library. It is unclear where nobody can tell, and None for
        anything else outside.
        """
        head, _, last = dotted.rpartition(".")
        module = self.module(dotted, importer)
        if module is not None:
            return self._attribute(module, head, last, importer, seen) if head else module
        if not head or dotted.startswith("torch."):
            return None  # tables say what torch's own classes are
        holder = self.module(head, importer)
        if holder is None:
            return self._of(self.lookup(head, importer, seen), last, None, seen)
        # What a script finds beside itself may be another package of that name, which is not here.
        unsure = holder.name != head or (seen is not None and (holder, last) in seen)
        # An import finds the module, whatever else has its name.
        found = self.member(holder, last, seen)
        if found is None:
            found = self._of(self.lookup(head, importer, seen), last, holder, seen)
            told = found is None and not unsure and not _imports(importer, dotted)
            return self._missing(holder, last) if told else found
        if self._is_replaced(holder) and (holder.makes(last) or last in holder.imported):
            return self._unclear(
                f"`{holder.name}` puts another object in its place, so what its `{last}` is is not"
                " known",
                f"Import `{last}` from a file that stays what it is",
            )
        return found

    def _is_replaced(self, module: ModuleInfo) -> bool:
        """Whether a module puts another object in its place: ``sys.modules[__name__] = ...``."""
        if module not in self._replaced:
            text = module.file.text
            self._replaced[module] = "sys.modules" in text and bool(_REPLACED.search(text))
        return self._replaced[module]

    def _missing(self, module: ModuleInfo, name: str) -> Unclear | None:
        """Why nobody can tell what a module has under a name; None where nothing is unusual."""
        unbound = None if name.startswith("_") else self.unbound(module, name)
        inside = f"{self._folder(module)}{os.sep}{name}{os.sep}"
        is_folder = module.is_package and any(text.startswith(inside) for text in self._by_text)
        if unbound is None or module.installed or is_folder:
            return None
        return self._unclear(
            f"nothing that can be read in `{module.name}` binds `{name}`",
            "It is made when it is asked for, by `__getattr__`: bind it there, or pass it in"
            if "__getattr__" in module.functions
            else f"Import `{name}` from the file that makes it, or say `import"
            f" {module.name}.{name}` if that is compiled code",
            module.name,
        )

    def unbound(self, module: ModuleInfo, name: str) -> Unclear | None:
        """Why nobody can tell what a file's top level binds to a name; None where something does.

        Also where a star of one of Python's own modules may.
        """
        if name in bindings(module, module.tree) or name in module.declared:
            return None
        away = list(dict.fromkeys(self._stars_away(module, set())))
        if any(star.partition(".")[0] in sys.stdlib_module_names for star in away):
            return None
        if away:
            others = " or another star" if len(away) > 1 else ""
            return self._unclear(
                f"what nothing else binds, such as `{name}`, may come from"
                f" `from {away[0]} import *`{others}, and that is not there to read",
                f"Import `{name}` by name from where it is made",
                f"* of {away[0]}",
            )
        return self._unclear(
            f"nothing that can be read binds `{name}`",
            f"Import `{name}` by name from where it is made",
            f"{module.name}: ",
        )

    def _stars_away(self, module: ModuleInfo, seen: set[ModuleInfo]) -> Iterator[str]:
        """The stars of a file that nobody can read, and those of what it takes over."""
        seen.add(module)
        few = len(module.stars) <= STARS.most
        for star in module.stars:
            if star in OF_PYTHON or star.partition(".")[0] in TABLED:
                continue
            source = self.module(star, module) if few else None
            if source is None:
                yield star
            elif source not in seen:
                yield from self._stars_away(source, seen)

    def _of(self, owner: Meant, name: str, asked: ModuleInfo | None, seen: Seen | None) -> Meant:
        """What ``owner.name`` means, unless that is a module that was asked already."""
        match owner:
            case ClassInfo():
                return self.inner_class(owner, name) or self.method(owner, name)
            case ModuleInfo() if owner is not asked:
                return self.member(owner, name, seen)
            case str():
                return f"{owner}.{name}"
            case Unclear():
                return owner
        return None

    def _attribute(
        self,
        module: ModuleInfo,
        package: str,
        name: str,
        importer: ModuleInfo | None,
        seen: Seen | None,
    ) -> Meant:
        """What a package has under the name of one of its modules.

        Python puts the module there when it is first imported, and whatever the package binds to
        the name afterwards in its place.
        """
        holder = self.module(package, importer)
        if holder is None or not holder.is_package:
            return module
        found = self.member(holder, name, seen)
        if found is None or found is module:
            return module
        if _is_made_in(found, module):
            return found
        if (holder, name) not in self._last_bound:
            self._last_bound[holder, name] = last_bound(holder, name)
        if self._loads(holder, module, self._last_bound[holder, name], {holder}):
            return found
        return self._unclear(
            f"`{name}` is the module `{module.name}` or what `{holder.name}` binds to that name,"
            " whichever Python comes to last",
            "Give one of the two another name, or import the module before the name is bound",
        )

    def _loads(
        self, module: ModuleInfo, wanted: ModuleInfo, line: int, seen: set[ModuleInfo]
    ) -> bool:
        """Whether a module has imported another of the project when it is through with a line."""
        for name in modules_above(module, line):
            loaded = self.module(name, module)
            if loaded is wanted:
                return True
            if loaded is not None and loaded not in seen and not loaded.installed:
                seen.add(loaded)
                if self._loads(loaded, wanted, sys.maxsize, seen):
                    return True
        return False

    def _unclear(self, what: str, instead: str, cause: str = "") -> Unclear:
        """The same thing for the same words."""
        return self._reasons.setdefault(what, Unclear(what, instead, cause or what))

    def member(self, module: ModuleInfo, name: str, seen: Seen | None = None) -> Meant:
        """What a module's top level binds ``name`` to; those in ``seen`` were asked already."""
        varies = name in module.ways and name not in module.classes  # bases have to be a class
        if varies or name in module.assigned or name in module.mixed:
            return module, name
        if name in module.functions:
            return module.functions[name]
        if name in module.classes:
            return module.classes[name]
        seen = set() if seen is None else seen
        if (module, name) in seen:
            return None
        seen.add((module, name))
        target = module.imports.get(name)
        if target is None:
            return self.starred(module, name, seen)
        found = self.lookup(target, module, seen)
        is_outside = found is None and self.module(target.partition(".")[0], module) is None
        return target if is_outside else found

    def is_contested(self, dotted: str, importer: ModuleInfo, seen: Seen | None = None) -> bool:
        """True where a module on the way to what a name means gives it another meaning, too."""
        head, _, last = dotted.rpartition(".")
        module = self.module(head, importer) if head else None
        seen = set() if seen is None else seen
        if module is None or (module, last) in seen:
            return False
        seen.add((module, last))
        if module not in self._several:
            self._several[module] = meaning_several(module)
        if last in self._several[module]:
            return True
        if last in module.functions or last in module.classes or last in module.assigned:
            return False
        onward = [module.imports[last]] if last in module.imports else module.stars
        names = onward if last in module.imports else [f"{star}.{last}" for star in onward]
        return any(self.is_contested(name, module, seen) for name in names)

    def starred(self, module: ModuleInfo, name: str, seen: Seen | None = None) -> Meant:
        """What a name means that may come from ``from ... import *``; the last one wins."""
        seen = set() if seen is None else seen
        stars, unsure = module.stars, False
        if len(stars) > STARS.most:
            meant = self._stars_for(module, name)
            stars = sorted(meant, key=lambda star: (len(star), module.stars.index(star)))
        for star in reversed(stars):
            source = self.module(star, module, holding=name)
            if source is None and is_known(star, name):
                return None if unsure else f"{star}.{name}"
            unsure = unsure or (source is None and star.partition(".")[0] not in TABLED)
            if source is None or not self.exports(source, name):
                continue
            found = self.member(source, name, seen) or self._part(source, name)
            if found is not None:
                return found
        if len(module.stars) > STARS.most and not hasattr(builtins, name):
            STARS.cut()
        return None

    def _part(self, package: ModuleInfo, name: str) -> ModuleInfo | None:
        """The module of a package that Python put under its name when the package imported it."""
        part = self.module(f"{package.name}.{name}", package) if package.is_package else None
        if part is None or name in bindings(package, package.tree):
            return None
        return part if self._loads(package, part, sys.maxsize, {package}) else None

    def _stars_for(self, module: ModuleInfo, name: str) -> list[str]:
        """Those of very many stars that are named like a name begins: ``bert`` of ``BertModel``."""
        if module not in self._stars:
            named = self._stars[module] = {}
            for star in module.stars:
                named.setdefault(star.rpartition(".")[2].replace("_", ""), []).append(star)
        named, lower = self._stars[module], name.lower()
        beginnings = [lower[:length] for length in range(len(lower) + 1)]
        return [star for beginning in beginnings for star in named.get(beginning, ())]

    def bases(self, cls: ClassInfo) -> Iterator[ClassInfo | str]:
        """The direct bases: classes of the project, or dotted names of others."""
        for place, base in enumerate(cls.bases):
            node = base.value if isinstance(base, ast.Subscript) else base
            name = cls.meant[place] if cls.meant else dotted_name(cls.module, node)
            if isinstance(name, ClassInfo):
                yield name
            elif name is not None:
                yield self._class_near(cls, name) or name

    def _class_near(self, cls: ClassInfo, name: str) -> ClassInfo | str | None:
        """The class that a base's name stands for; one in a class may mean its neighbour."""
        holder = cls.qualname.rpartition(".")[0]
        known = cls.module.classes
        own = known.get(f"{holder}.{name}") if holder else None
        found = own or known.get(name) or self.lookup(name, cls.module)
        found = found or self.starred(cls.module, name)
        return found if isinstance(found, (ClassInfo, str)) and found is not cls else None

    def inner_class(self, cls: ClassInfo, name: str) -> ClassInfo | None:
        """The class that the body of a class, or of one of its bases, defines."""
        owners = (base for base in self.ancestry(cls) if isinstance(base, ClassInfo))
        return next((one.classes[name] for one in owners if name in one.classes), None)

    def ancestry(self, cls: ClassInfo) -> tuple[ClassInfo | str, ...]:
        """The class and its bases, the nearest ones, in the order in which Python asks them."""
        known = self._ancestries
        found = known.get(cls)
        if found is not None:
            return found
        pending = [cls]
        while cls not in known:
            current = pending[-1]
            bases = list(self.bases(current))
            # A class that its own bases lead back to is pending already.
            unknown = [b for b in bases if isinstance(b, ClassInfo) and b not in known]
            below = next((base for base in unknown if base not in pending), None)
            if below is not None:
                pending.append(below)
                continue
            above = linearised([known.get(base, (base,)) for base in bases], bases)
            if len(above) > BASES.most:
                BASES.cut()
            known[current] = (current, *(b for b in above[: BASES.most] if b is not current))
            pending.pop()
        return known[cls]

    def method(
        self, cls: ClassInfo, name: str, after: ClassInfo | None = None
    ) -> FunctionInfo | None:
        """The method that attribute look-up finds; with ``after``, what ``super()`` finds there."""
        key = (cls, name, after)
        try:
            return self._methods[key]
        except KeyError:
            found = self._methods[key] = self._method(cls, name, after)
            return found

    def _method(self, cls: ClassInfo, name: str, after: ClassInfo | None) -> FunctionInfo | None:
        skipping = after is not None
        for base in self.ancestry(cls):
            if skipping:
                skipping = base is not after
                continue
            if isinstance(base, ClassInfo) and name in base.methods:
                return base.methods[name]
        return None

    def overriding(self, cls: ClassInfo, name: str) -> tuple[ClassInfo, ...]:
        """The classes below a class, in files that were asked for, that define a method."""
        key = (cls, name)
        if key not in self._overriding:
            near = (module for module in self.loaded if cls.name in module.file.text)
            self._overriding[key] = tuple(
                one
                for module in near
                for one in module.classes.values()
                if one is not cls and name in one.methods and cls in self.ancestry(one)
            )
        return self._overriding[key]

    def asked_of_self(self, cls: ClassInfo) -> frozenset[str]:
        """The attributes that the methods of a class ask of their first argument."""
        if cls not in self._asked:
            self._asked[cls] = frozenset(
                name for method in cls.methods.values() for name in _asked_of_first(method.node)
            )
        return self._asked[cls]

    def is_tensor_class(self, cls: ClassInfo) -> bool:
        """True for subclasses of ``torch.Tensor``."""
        return not _TENSORS.isdisjoint(self.ancestry(cls))

    def is_module_class(self, cls: ClassInfo) -> bool:
        """True for subclasses of ``torch.nn.Module``, also through bases outside the project.

        A class whose foreign base is unknown counts when it has a ``forward`` method of its own
        and no base that is known to be something else.
        """
        if cls not in self._is_module:
            self._is_module[cls] = self._inherits_module(cls)
        return self._is_module[cls]

    def _inherits_module(self, cls: ClassInfo) -> bool:
        foreign = [base for base in self.ancestry(cls) if isinstance(base, str)]
        # A run over torch itself meets its classes in their files.
        own = [base for base in self.ancestry(cls) if isinstance(base, ClassInfo)]
        if any(f"{base.module.name}.{base.qualname}" in MODULE_CLASSES for base in own):
            return True
        if any(name in MODULE_CLASSES or _is_of_modules(name) for name in foreign):
            return True
        if any(name.startswith(("torch.autograd.", "torch.jit.")) for name in foreign):
            return False
        unknown = [name for name in foreign if name.partition(".")[0] not in PLAIN_BASES]
        return bool(unknown) and self.method(cls, "forward") is not None


def _handed(module: ModuleInfo) -> dict[str, list[str]]:
    """The modules from which a file imports a library by the name of that, and that name."""
    names = (one.rpartition(".") for one in module.imports.values())
    return {base: [last] for base, _, last in names if base and last in TABLED}


_REPLACED: Final = regex(r"sys\.modules\[__name__\][ \t]*=(?!=)")


def _is_made_in(found: Meant, module: ModuleInfo) -> bool:
    """True for what a module, or one inside of it, makes: it was imported before."""
    match found:
        case FunctionInfo() | ClassInfo():
            made_in = found.module
        case (ModuleInfo() as owner, str()):
            made_in = owner
        case _:
            return False
    return f"{made_in.name}.".startswith(f"{module.name}.")


def _asked_of_first(method: FunctionNode) -> Iterator[str]:
    first = method.args.args[0].arg if method.args.args else None
    for node in nodes(method):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == first:
                yield attribute


_TENSORS: Final = frozenset({"torch.Tensor", "torch.nn.Parameter"})
PLAIN_BASES: Final = frozenset(
    {"object", "abc", "typing", "enum", "dataclasses", "Exception", "dict", "list", "tuple", "str"}
)


def _is_of_modules(name: str) -> bool:
    return name.startswith(MODULE_PACKAGES) and name not in NO_MODULES


def _listing(folder: str) -> dict[str, str]:
    try:
        with os.scandir(folder) as entries:
            return {one.name: _target(one) if one.is_symlink() else "" for one in entries}
    except OSError:
        return {}


def _target(link: os.DirEntry[str]) -> str:
    folder = os.path.dirname(link.path)  # noqa: PTH120
    return os.path.normpath(os.path.join(folder, Path(link).readlink()))  # noqa: PTH118


def module_name(path: Path) -> str:
    """The dotted name of a file, counted from the outermost folder that is a package."""
    return module_names([path])[path]


def module_names(paths: Iterable[Path]) -> dict[Path, str]:
    """The dotted names of files; each folder is looked at once."""
    packages: dict[str, str] = {}
    here = os.getcwd()  # noqa: PTH109 (these are strings: there are many files)
    names: dict[Path, str] = {}
    for path in paths:
        folder = os.path.dirname(os.path.join(here, path))  # noqa: PTH118, PTH120
        package = _package(folder, packages)
        if path.stem == "__init__":
            names[path] = package or os.path.basename(folder)  # noqa: PTH119
        else:
            names[path] = f"{package}.{path.stem}" if package else path.stem
    return names


def _package(folder: str, known: dict[str, str]) -> str:
    """The dotted name of a folder that is a package, or lies in one; empty for any other."""
    if folder not in known:
        above, name = os.path.split(folder)
        package = _package(above, known) if above != folder else ""
        is_own = os.path.isfile(os.path.join(folder, "__init__.py"))  # noqa: PTH113, PTH118
        inside = bool(package) and name.isidentifier()
        known[folder] = f"{package}.{name}" if inside else name if is_own else ""
    return known[folder]


__all__ = ["Project", "collect_module", "module_name"]


def _imports(module: ModuleInfo | None, dotted: str) -> bool:
    """Whether a file says ``import`` of a module by its whole name: a library's, if not here."""
    statements = nodes(module.tree) if module is not None else []
    names = (a.name for one in statements if isinstance(one, ast.Import) for a in one.names)
    return any(f"{name}.".startswith(f"{dotted}.") for name in names)
