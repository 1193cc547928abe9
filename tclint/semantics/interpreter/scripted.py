"""What ``torch.jit.script`` compiles: TorchScript takes a part of Python only.

Decorators and base classes say so, and calls of ``torch.jit.script`` that the analysis met. What
scripted code calls is scripted with it, and so are the modules that a scripted one is built of.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final, cast

from tclint.semantics.collect import decorator_name, dotted_name, local_imports
from tclint.semantics.interpreter.analysis import Analysis
from tclint.semantics.interpreter.functions import attributes_of
from tclint.semantics.lattice import options
from tclint.semantics.project import Project
from tclint.semantics.symbols import ClassInfo, FunctionInfo, ModuleInfo
from tclint.semantics.syntax import ATTRIBUTE, NAME, nodes
from tclint.semantics.values import (
    UNKNOWN,
    Class,
    Compiled,
    Function,
    Mapping,
    Object,
    Sequence,
    Value,
)
from tclint.torch_facts.compiling import SCRIPT_MODULES, SCRIPTING, UNSCRIPTED


class Scripted:
    """The functions of a program that are scripted; found when somebody asks."""

    def __init__(self, analysis: Analysis, modules: Iterable[ModuleInfo]) -> None:
        """``modules`` are the files under analysis, whose decorators say what is scripted."""
        self._analysis = analysis
        self._functions: set[FunctionInfo] = set()
        self._classes: set[ClassInfo] = set()
        self._builders: set[FunctionInfo] = set()
        for module in modules:
            if "jit" in module.file.text:
                self._decorated(module)
        for value, module in analysis.scripted:
            self._value(value, module)

    def around(self, module: ModuleInfo, row: int) -> FunctionInfo | None:
        """The scripted function that a row of a file is in."""
        for function in self._functions:
            node = function.node
            if function.module is module and node.lineno <= row <= (node.end_lineno or row):
                return function
        return None

    def _decorated(self, module: ModuleInfo) -> None:
        for function in module.functions.values():
            if not SCRIPTING.isdisjoint(function.decorators):
                self._function(function)
        for cls in module.classes.values():
            marks = {decorator_name(module, d) for d in cls.node.decorator_list}
            for method in cls.methods.values():
                marks.update(method.decorators)
            bases = {base for base in self._project.ancestry(cls) if isinstance(base, str)}
            if not SCRIPTING.isdisjoint(marks) or not SCRIPT_MODULES.isdisjoint(bases):
                self._class(cls)

    @property
    def _project(self) -> Project:
        return self._analysis.project

    def _value(self, value: Value, module: ModuleInfo) -> None:
        """Note what a value leads to; one that is not known may be any module of its file."""
        for option in options(value):
            match option:
                case Function(info=info):
                    self._function(info)
                case Object(cls=cls) | Class(info=cls) if cls is not None:
                    self._class(cls)
                case Compiled(inner=inner):
                    self._value(inner, module)
                case Sequence(items=items, element=element):
                    for part in items or (element,):
                        self._part(part, module)
                case Mapping(items=pairs, element=element):
                    for part in (element, *(part for _, part in pairs)):
                        self._part(part, module)
            if option is UNKNOWN:
                for cls in module.classes.values():
                    if self._project.is_module_class(cls):
                        self._class(cls)

    def _part(self, value: Value, module: ModuleInfo) -> None:
        if value is not UNKNOWN:
            self._value(value, module)

    def _class(self, cls: ClassInfo) -> None:
        """Note the methods that scripting a module compiles, and the modules that it is made of."""
        if cls in self._classes or cls.module.installed:
            return
        self._classes.add(cls)
        family = [base for base in self._project.ancestry(cls) if isinstance(base, ClassInfo)]
        plain = not self._project.is_module_class(cls)
        for base in family:
            for method in base.methods.values():
                if method.name == "__init__":
                    self._builder(method)
                elif (
                    plain or method.name == "forward" or not SCRIPTING.isdisjoint(method.decorators)
                ):
                    self._function(method)
        for value in attributes_of(self._analysis, cls).values():
            self._part(value, cls.module)

    def _function(self, function: FunctionInfo) -> None:
        left_out = not UNSCRIPTED.isdisjoint(function.decorators)
        if function in self._functions or left_out or function.module.installed:
            return
        self._functions.add(function)
        for found in self._named(function):
            if isinstance(found, ClassInfo):
                self._class(found)
            else:
                self._function(found)

    def _builder(self, function: FunctionInfo) -> None:
        """Note the classes of the modules that a function makes, which is not scripted itself."""
        if function in self._builders or function.module.installed:
            return
        self._builders.add(function)
        for found in self._named(function):
            if isinstance(found, FunctionInfo):
                self._builder(found)
            elif self._project.is_module_class(found):
                self._class(found)

    def _named(self, function: FunctionInfo) -> Iterator[FunctionInfo | ClassInfo]:
        """The functions and classes of the program that a function names."""
        module, cls = function.module, function.cls
        inside = nodes(function.node)
        imported = _imported(module, inside)
        for node in inside:
            root = _root(node)
            if root is None:
                continue
            if root == "self" and cls is not None:
                method = self._project.method(cls, _own_attribute(node))
                if method is not None:
                    yield method
            elif root in module.functions or root in module.classes or root in imported:
                found = self._meant(module, cast("ast.expr", node))
                if found is not None:
                    yield found

    def _meant(self, module: ModuleInfo, node: ast.expr) -> FunctionInfo | ClassInfo | None:
        """The function or class that an expression of names stands for."""
        dotted = dotted_name(module, node) or ""
        found = module.functions.get(dotted) or module.classes.get(dotted)
        if found is not None or "." not in dotted:
            return found
        looked_up = self._project.lookup(dotted, module)
        return looked_up if isinstance(looked_up, (FunctionInfo, ClassInfo)) else None


def _imported(module: ModuleInfo, inside: Iterable[ast.AST]) -> set[str]:
    """The names that imports bind, those of the file and those among some nodes."""
    found = {*module.imports}
    for node in inside:
        if type(node) in _IMPORTS:
            pairs = local_imports(module, cast("ast.Import | ast.ImportFrom", node))
            found.update(local for local, _ in pairs)
    return found


_IMPORTS: Final = frozenset({ast.Import, ast.ImportFrom})


def _root(node: ast.AST) -> str | None:
    """The variable that an expression of names begins with; None for any other node."""
    while type(node) is ATTRIBUTE:
        node = node.value
    return node.id if type(node) is NAME else None


def _own_attribute(node: ast.AST) -> str:
    """``x`` of ``self.x``; empty for what is no attribute of a variable."""
    plain = isinstance(node, ATTRIBUTE) and isinstance(node.value, NAME)
    return cast("ast.Attribute", node).attr if plain else ""
