"""The named things of a project: modules, classes, functions. They hold syntax, never verdicts.

Like the values they are no dataclasses, so that mypyc makes them native; each is equal to itself.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final
from unicodedata import normalize

from tclint.regexes import regex

if TYPE_CHECKING:
    from tclint.source.file import SourceFile

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Parameter = tuple[ast.arg, ast.expr | None]


class FunctionInfo:
    """A function of the project: ``qualname`` is dotted from its module (``Net.forward``).

    ``name`` is the last part of it.
    """

    __slots__ = ("cls", "decorators", "module", "name", "node", "qualname")

    def __init__(
        self,
        module: ModuleInfo,
        qualname: str,
        node: FunctionNode,
        cls: ClassInfo | None = None,
        decorators: tuple[str, ...] = (),
    ) -> None:
        self.module: Final = module
        self.qualname: Final = qualname
        self.node: Final = node
        self.cls: Final = cls
        self.decorators: Final = decorators
        self.name: Final = qualname.rpartition(".")[2]


class ClassInfo:
    """A class of the project with its own methods and classes (not the inherited ones).

    ``name`` is the last part of its qualified name. ``meant`` is what the bases of a class in a
    function were there: classes, or dotted names. ``others`` are the methods that a condition may
    put in the place of one of the same name.
    """

    __slots__ = (
        "bases", "classes", "meant", "methods", "module", "name", "node", "others", "qualname",
    )  # fmt: skip

    def __init__(
        self,
        module: ModuleInfo,
        qualname: str,
        node: ast.ClassDef,
        bases: tuple[ast.expr, ...],
        meant: tuple[ClassInfo | str | None, ...] = (),
    ) -> None:
        self.module: Final = module
        self.qualname: Final = qualname
        self.node: Final = node
        self.bases: Final = bases
        self.meant: Final = meant
        self.name: Final = qualname.rpartition(".")[2]
        self.methods: Final[dict[str, FunctionInfo]] = {}
        self.others: Final[dict[str, list[FunctionInfo]]] = {}
        self.classes: Final[dict[str, ClassInfo]] = {}


def ways_of(method: FunctionInfo) -> list[FunctionInfo]:
    """A method, and those that a condition may put in its place."""
    cls = method.cls
    if cls is None or cls.methods.get(method.name) is not method:
        return [method]
    return [method, *cls.others.get(method.name, ())]


class ModuleInfo:
    """One parsed file: what its top level binds, and to what.

    Among its ``classes`` are those in the bodies of others, by their qualified names.
    ``imports`` maps local names to the dotted names that they stand for; ``assigned`` maps
    top-level variables to the expressions last assigned to them; ``stars`` are the modules whose
    names it takes over; ``given`` are, by module, those of them that the file uses and that modules
    of the project give, with what they stand for. ``installed`` marks a file of a package that the
    project only uses. ``imported`` are the local names that the top level imports whatever happens,
    ``typed`` those that only type checkers see, and ``rebound`` those that it gives another meaning
    afterwards. ``mixed`` are the functions and classes that an import may take the place of, and
    ``ways`` the functions or classes of one name among which conditions choose, by their syntax.
    ``bindings`` remembers the answers of `collect.bindings`, by scope, ``stores`` what is known of
    what writes to names below some syntax.
    """

    __slots__ = (
        "_declared", "assigned", "bindings", "classes", "file", "functions", "given", "imported",
        "imports", "installed", "is_package", "mixed", "name", "rebound", "stars", "stores", "tree",
        "typed", "ways",
    )  # fmt: skip

    def __init__(
        self, name: str, file: SourceFile, tree: ast.Module, installed: bool = False
    ) -> None:
        self.name: Final = name
        self.file: Final = file
        self.tree: Final = tree
        self.imports: Final[dict[str, str]] = {}
        self.functions: Final[dict[str, FunctionInfo]] = {}
        self.classes: Final[dict[str, ClassInfo]] = {}
        self.assigned: Final[dict[str, ast.expr]] = {}
        self.stars: Final[list[str]] = []
        self.given: Final[dict[str, dict[str, str]]] = {}
        self.installed: Final = installed
        self.is_package: Final = file.path.stem == "__init__"
        self.imported: Final[set[str]] = set()
        self.typed: Final[set[str]] = set()
        self.rebound: Final[set[str]] = set()
        self.mixed: Final[set[str]] = set()
        self.ways: Final[dict[str, dict[ast.AST, FunctionInfo | ClassInfo]]] = {}
        self.bindings: Final[dict[ast.AST, dict[str, str | None]]] = {}
        self.stores: Final[dict[ast.AST, Any]] = {}
        self._declared: frozenset[str] | None = None

    def makes(self, name: str) -> bool:
        """True for a function, class or variable of the file's top level."""
        return name in self.functions or name in self.classes or name in self.assigned

    def function_at(self, row: int) -> FunctionInfo | None:
        """The function or method of the top level around a line."""
        methods = (method for cls in self.classes.values() for method in cls.methods.values())
        for function in (*self.functions.values(), *methods):
            node = function.node
            if node.lineno <= row <= (node.end_lineno or node.lineno):
                return function
        return None

    @property
    def declared(self) -> frozenset[str]:
        """The names that some function calls ``global`` or ``nonlocal``, and perhaps others.

        By the text, which costs less than looking at all syntax.
        """
        if self._declared is None:
            found = (names for one in _DECLARED for names in one.findall(self.file.text))
            names = (name for listed in found for name in _NAME.findall(listed))
            self._declared = frozenset(normalize("NFKC", name) for name in names)
        return self._declared


# Each begins with a word that is quickly found; what prose says behind it does no harm.
_DECLARED: Final = tuple(
    regex(rf"{word}[\s\\]+(\w+(?:[\s\\]*,[\s\\]*\w+)*)") for word in ("global", "nonlocal")
)
_NAME: Final = regex(r"\w+")


class Signature:
    """The parameters of a function, as calls bind them.

    ``named`` are those of `parameters_of`, of which ``by_position`` come first that may be passed
    so; ``off`` are the names of flags that are False unless somebody passes them. ``rest`` and
    ``keywords`` are the names behind ``*`` and ``**``.
    """

    __slots__ = ("by_position", "keywords", "named", "names", "off", "rest")

    def __init__(self, node: FunctionNode) -> None:
        spec = node.args
        self.named: Final = parameters_of(node)
        self.names: Final = [argument.arg for argument, _ in self.named]
        self.by_position: Final = len(spec.posonlyargs) + len(spec.args)
        self.off: Final = frozenset(
            argument.arg
            for argument, default in self.named
            if isinstance(default, ast.Constant) and default.value is False
        )
        self.rest: Final = spec.vararg.arg if spec.vararg else None
        self.keywords: Final = spec.kwarg.arg if spec.kwarg else None


def parameters_of(node: FunctionNode) -> list[Parameter]:
    """The named parameters with their defaults, in order, without ``*args`` and ``**kwargs``."""
    spec = node.args
    positional, defaults = spec.posonlyargs + spec.args, spec.defaults
    missing = len(positional) - len(defaults)
    found: list[Parameter] = []
    for place, argument in enumerate(positional):
        found.append((argument, defaults[place - missing] if place >= missing else None))
    for place, argument in enumerate(spec.kwonlyargs):
        found.append((argument, spec.kw_defaults[place]))
    return found
