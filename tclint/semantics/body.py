"""One analysed function: its syntax, and what its expressions were found to be."""

from __future__ import annotations

import ast
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from tclint.diagnostics import ChainLink
from tclint.semantics.collect import bindings, local_imports
from tclint.semantics.flow import Flow
from tclint.semantics.symbols import FunctionInfo, ModuleInfo
from tclint.semantics.syntax import BINDING, NAME, add_children, blocks_of, nodes
from tclint.semantics.values import Value

if TYPE_CHECKING:
    from tclint.semantics.site import Site

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Module

_NAMING: Final = frozenset(
    {*BINDING, ast.arg, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom}
)


class Body:
    """One analysed function's syntax with lazily built look-ups, shared by its events."""

    def __init__(self, module: ModuleInfo, function: FunctionInfo | None, scope: Scope) -> None:
        """``scope`` is the syntax of the function, or of the module outside all functions."""
        self.module = module
        self.function = function
        self.scope = scope
        self.values: dict[ast.AST, Value] = {}
        self.links: dict[int, ChainLink] = {}  # this function at a row
        self.calls: dict[ast.Call, tuple[Site, int]] = {}
        """Calls of it in compiled code: where, and how many parameters they do not pass."""
        self.called: dict[ast.expr, dict[Body, int]] = {}
        """What its own calls in compiled code reach, and how many parameters they do not pass."""
        self.contested: set[ast.expr] = set()
        """Those of its calls whose name another module gives one meaning or another."""
        self.answers: dict[tuple[object, ...], object] = {}  # to what is asked `once`
        self._flow: Flow | None = None
        self._parents: dict[ast.AST, ast.AST] | None = None
        self._names: dict[str, list[ast.Name]] | None = None
        self._arguments: dict[str, list[ast.arg]] = {}
        self._assigned: set[str] = set()
        self._declared: set[str] = set()
        self._bound: set[str] = set()
        self._imports: dict[str, list[ast.stmt]] = {}
        self._around: set[str] = set()

    @property
    def flow(self) -> Flow:
        """The definitions of the function's variables, and the reads that find each."""
        if self._flow is None:
            self._flow = Flow(self.scope)
        return self._flow

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The syntax node directly around ``node``, up to the function itself."""
        if self._parents is None:
            self._look()
        return (self._parents or {}).get(node)

    def names(self, name: str) -> list[ast.Name]:
        """All occurrences of a variable in the function, nested functions included, in order."""
        if self._names is None:
            self._look()
        return (self._names or {}).get(name, [])

    def assigns(self, name: str) -> bool:
        """True for a variable that the function, or one inside it, assigns or deletes."""
        if self._names is None:
            self._look()
        return name in self._assigned

    def arguments(self, name: str) -> list[ast.arg]:
        """The parameters of a name, of the function and of those inside it."""
        if self._names is None:
            self._look()
        return self._arguments.get(name, [])

    def is_declared(self, name: str) -> bool:
        """True where the function, or one inside it, calls a name ``global`` or ``nonlocal``."""
        if self._names is None:
            self._look()
        return name in self._declared

    def is_shared(self, name: str) -> bool:
        """True for a variable that the function, or one inside it, calls global or nonlocal."""
        return name in self.module.declared and self.is_declared(name)

    def binds(self, name: str) -> bool:
        """True where the function, or one around it, gives a name a meaning of its own.

        Assignments in the function itself do not count: `names` has those.
        """
        return self.defines(name) or (
            name in self._around and not isinstance(self.scope, ast.Module)
        )

    def has(self, name: str) -> bool:
        """True for a variable of the function, one inside it or one around it."""
        if self.assigns(name) or self.arguments(name) or self.imports(name) or self.binds(name):
            return True
        around = _around(self.module.tree, self.scope)
        return any(name in bindings(self.module, outer) for outer in around)

    def computed_around(self, name: str) -> bool:
        """True for what a function around this one assigns and this one only reads."""
        scope = self.scope
        if self.assigns(name) or isinstance(scope, ast.Module) or name in _parameters(scope):
            return False
        for outer in reversed(_around(self.module.tree, self.scope)):
            if name in _parameters(outer):
                return False
            if name in _variables(outer):
                return True
        return False

    def defines(self, name: str) -> bool:
        """True where the function binds a name, but not by an assignment.

        By a definition inside, a handler, a pattern, or an import that is not the module's own.
        """
        if self._names is None:
            self._look()
        return name in self._bound and not isinstance(self.scope, ast.Module)

    def imports(self, name: str) -> list[ast.stmt]:
        """The imports in the function, or one inside it, that bind a name."""
        if self._names is None:
            self._look()
        return self._imports.get(name, [])

    def _look(self) -> None:
        """Go through the function once for all look-ups."""
        parents: dict[ast.AST, ast.AST] = {}
        names: dict[str, list[ast.Name]] = {}
        pending: list[ast.AST] = [self.scope]
        for outer in pending:  # grows while it is walked: breadth first
            if isinstance(outer, NAME):
                names.setdefault(outer.id, []).append(outer)
                if not isinstance(outer.ctx, ast.Load):
                    self._assigned.add(outer.id)
                continue  # nothing is below it
            if type(outer) in _NAMING and outer is not self.scope:
                self._note(outer)
            count = len(pending)
            add_children(outer, pending)
            for child in pending[count:]:
                parents[child] = outer
        for outer in _around(self.module.tree, self.scope):
            self._around.update(_variables(outer))
        for occurrences in names.values():
            occurrences.sort(key=lambda n: (n.lineno, n.col_offset))
        self._parents, self._names = parents, names

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.arg):
            self._arguments.setdefault(node.arg, []).append(node)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            self._declared.update(node.names)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self._import(node)
        else:
            self._bound.add(getattr(node, BINDING[type(node)]) or "")

    def _import(self, statement: ast.Import | ast.ImportFrom) -> None:
        for name, meant in local_imports(self.module, statement):
            self._imports.setdefault(name, []).append(statement)
            if self.module.imports.get(name, name) != meant:
                self._bound.add(name)


def _around(tree: ast.Module, scope: Scope) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions that a function is defined in."""
    if isinstance(scope, ast.Module):
        return []
    around = functions_around(tree, scope.lineno, scope.end_lineno or scope.lineno)
    return [one for one in around if one is not scope]


def functions_around(
    tree: ast.Module, first: int, last: int
) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions that hold all of some rows, outermost first."""
    found: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
    blocks: list[list[ast.stmt]] = [tree.body]
    for block in blocks:  # grows while it is gone through
        place = bisect_right(block, first, key=lambda statement: statement.lineno)
        while place and last <= (block[place - 1].end_lineno or 0):
            place -= 1
            statement = block[place]
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.append(statement)
            blocks += blocks_of(statement)
    return found


def _parameters(
    function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
) -> set[str]:
    return {part.arg for part in ast.walk(function.args) if isinstance(part, ast.arg)}


def _variables(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The names that a function assigns or takes as arguments."""
    names: set[str] = set()
    for node in nodes(function):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
    return names
