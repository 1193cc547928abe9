"""Where a class gives a tensor that it keeps to what may write it: a function, a list, a view."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Final

from tclint.semantics.bounds import Bound
from tclint.semantics.collect import dotted_name
from tclint.semantics.symbols import ModuleInfo
from tclint.semantics.syntax import nodes
from tclint.torch_facts.memory import ALLOCATING_FUNCTIONS, ALLOCATING_METHODS

_COMPUTING: Final = (
    ast.BinOp, ast.UnaryOp, ast.Compare, ast.FormattedValue, ast.Slice, ast.Return, ast.Expr,
    ast.If, ast.While, ast.Assert,
)  # fmt: skip
"""What reads a tensor and makes something new; what is returned is another's."""
_MEMBERS: Final = frozenset("device dtype shape ndim layout is_cuda requires_grad".split())
_METHODS: Final = ALLOCATING_METHODS | frozenset("item tolist size dim numel get_device".split())
_PYTHON: Final = frozenset(
    "int float bool len range round print str repr isinstance type id".split()
)
_IN_PLACE: Final = frozenset({"out", "inplace"})
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
VARIABLES: Final = Bound(3, "variables to see that an attribute is only read", hides=False)


class HandedOut:
    """The reads of one class, and what is around them; what is ``apart`` is not looked at."""

    def __init__(self, module: ModuleInfo, scope: ast.ClassDef, apart: Iterable[ast.AST]) -> None:
        self._module = module
        self._around: dict[ast.AST, ast.AST] = {}
        self._inside: list[ast.AST] = []
        left = set(apart)
        pending: list[ast.AST] = [scope]
        while pending:
            outer = pending.pop()
            self._inside.append(outer)
            for child in ast.iter_child_nodes(outer):
                if child not in left:
                    self._around[child] = outer
                    pending.append(child)

    def attribute(self, name: str) -> ast.AST | None:
        """Where an attribute goes that may be written there; None for nowhere."""
        reads = (
            node
            for node in self._inside
            if isinstance(node, ast.Attribute)
            and node.attr == name
            and isinstance(node.ctx, ast.Load)
            and isinstance(node.value, ast.Name)
        )
        return next((node for node in reads if not self._only_reads(node, VARIABLES.most)), None)

    def variable(self, name: str, scope: ast.AST, after: ast.stmt) -> ast.AST | None:
        """Where a variable that a statement of a function binds goes that may be written there."""
        found = [node for node in self._names(scope, name) if node.lineno > after.lineno]
        stores = [node for node in found if not isinstance(node.ctx, ast.Load)]
        end = min((node.lineno for node in stores), default=None)
        changed = (one for one in stores if isinstance(self._around[one], ast.AugAssign))
        reads = (node for node in found if end is None or node.lineno < end)
        given = (node for node in reads if not self._only_reads(node, VARIABLES.most))
        return next(changed, None) or next(given, None)

    def _only_reads(self, node: ast.AST, depth: int) -> bool:
        outer = self._around.get(node)
        if isinstance(outer, _COMPUTING):
            return True
        match outer:
            case ast.BoolOp() | ast.IfExp() | ast.Tuple() | ast.keyword():
                kept = isinstance(outer, ast.keyword) and outer.arg in _IN_PLACE
                return not kept and self._only_reads(outer, depth)
            case ast.Subscript(slice=part) | ast.AugAssign(value=part):
                return part is node
            case ast.Attribute(attr=attr):
                call = self._around.get(outer)
                called = isinstance(call, ast.Call) and call.func is outer
                return attr in (_METHODS if called else _MEMBERS)
            case ast.Call(func=function, keywords=keywords):
                dotted = dotted_name(self._module, function) or ""
                known = dotted in ALLOCATING_FUNCTIONS or dotted in _PYTHON
                return known and all(one.arg not in _IN_PLACE for one in keywords)
            case ast.Assign(targets=[ast.Name()]) if not depth:
                VARIABLES.cut()
            case ast.Assign(targets=[ast.Name(id=name)]):
                return self._variable_only_reads(outer, name, depth - 1)
        return False

    def _variable_only_reads(self, statement: ast.Assign, name: str, depth: int) -> bool:
        """True where all that a function does with a variable is to read it, and to bind it."""
        found = self._names(statement, name)
        reads = (node for node in found if isinstance(node.ctx, ast.Load))
        stores = (node for node in found if not isinstance(node.ctx, ast.Load))
        plain = all(not isinstance(self._around.get(node), ast.AugAssign) for node in stores)
        return plain and all(self._only_reads(node, depth) for node in reads)

    def _names(self, place: ast.AST, name: str) -> list[ast.Name]:
        """A variable in the function that a statement is in."""
        function = place
        while function in self._around and not isinstance(function, _FUNCTIONS):
            function = self._around[function]
        return [
            node
            for node in nodes(function)
            if isinstance(node, ast.Name) and node.id == name and node in self._around
        ]
