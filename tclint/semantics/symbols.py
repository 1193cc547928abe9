"""The named things of a project: modules, classes, functions. They hold syntax, never verdicts."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tclint.source.file import SourceFile

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Parameter = tuple[ast.arg, ast.expr | None]


@dataclass(frozen=True, slots=True, eq=False)
class FunctionInfo:
    """A function of the project: ``qualname`` is dotted from its module (``Net.forward``)."""

    module: ModuleInfo = field(repr=False)
    qualname: str
    node: FunctionNode = field(repr=False)
    cls: ClassInfo | None = field(default=None, repr=False)
    decorators: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The last part of the qualified name."""
        return self.qualname.rpartition(".")[2]


@dataclass(frozen=True, slots=True, eq=False)
class ClassInfo:
    """A class of the project with its own methods (not the inherited ones)."""

    module: ModuleInfo = field(repr=False)
    qualname: str
    node: ast.ClassDef = field(repr=False)
    bases: tuple[ast.expr, ...] = field(repr=False)
    methods: dict[str, FunctionInfo] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The last part of the qualified name."""
        return self.qualname.rpartition(".")[2]


@dataclass(frozen=True, slots=True, eq=False)
class ModuleInfo:
    """One parsed file: what its top level binds, and to what.

    ``imports`` maps local names to the dotted names that they stand for; ``assigned`` maps
    top-level variables to the expressions last assigned to them; ``stars`` are the modules whose
    names it takes over. ``installed`` marks a file of a package that the project only uses.
    ``imported`` are the local names that the top level imports whatever happens, ``typed`` those
    that only type checkers see.
    """

    name: str
    file: SourceFile
    tree: ast.Module = field(repr=False)
    imports: dict[str, str] = field(default_factory=dict, repr=False)
    functions: dict[str, FunctionInfo] = field(default_factory=dict, repr=False)
    classes: dict[str, ClassInfo] = field(default_factory=dict, repr=False)
    assigned: dict[str, ast.expr] = field(default_factory=dict, repr=False)
    stars: list[str] = field(default_factory=list, repr=False)
    installed: bool = False
    imported: set[str] = field(default_factory=set, repr=False)
    typed: set[str] = field(default_factory=set, repr=False)


def parameters_of(node: FunctionNode) -> list[Parameter]:
    """The named parameters with their defaults, in order, without ``*args`` and ``**kwargs``."""
    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    missing = len(positional) - len(spec.defaults)
    defaults: list[ast.expr | None] = [*([None] * missing), *spec.defaults]
    return [
        *zip(positional, defaults, strict=True),
        *zip(spec.kwonlyargs, spec.kw_defaults, strict=True),
    ]
