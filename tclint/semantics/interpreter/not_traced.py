"""Which functions Dynamo does not trace into: torch's decorators say so, and those built on them.

What a decorator of the program returns is read from its text: nothing of it depends on arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tclint.semantics.collect import dotted_name, is_present, local_imports
from tclint.semantics.symbols import FunctionInfo, FunctionNode, ModuleInfo
from tclint.semantics.syntax import own_nodes
from tclint.torch_facts.compiling import DISABLED, KERNELS, OPAQUE, OPERATOR

if TYPE_CHECKING:
    from tclint.semantics.interpreter.analysis import Analysis

NESTED: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_Around = tuple[FunctionNode, ...]
_KEPT_OUT: Final = DISABLED | OPAQUE | KERNELS
# What a decorator returns where it does not keep the function out.
_TRACED: Final = ""


def not_traced(analysis: Analysis, info: FunctionInfo) -> frozenset[str]:
    """What of torch keeps a function out of compiled code; nothing for one that Dynamo traces.

    An empty name among others says that it is not always kept out.
    """
    known = analysis.not_traced.get(info)
    if known is None:
        names: set[str] = set()
        for decorator in _decorators(info):
            ends = _Ends(analysis)
            ends.follow(info.module, decorator, _functions_around(analysis, info))
            if ends.keeps_out:
                names |= ends.found
        known = analysis.not_traced[info] = frozenset(names)
    return known


def _functions_around(analysis: Analysis, info: FunctionInfo) -> _Around:
    """The functions that a nested one, or the class of a method, is defined in."""
    found: _Around = ()
    frame = analysis.closures.get(info.node)
    while frame is not None:
        scope = frame.body.scope
        found = found if isinstance(scope, ast.Module) else (scope, *found)
        frame = frame.outer
    return found


def is_disabled(names: frozenset[str]) -> bool:
    """True for what ends the graph wherever it is called."""
    return bool(names) and names <= DISABLED


def _decorators(info: FunctionInfo) -> Iterator[ast.expr]:
    """The decorators of a function, and what is applied to it later: ``f = disable(f)``."""
    if isinstance(info.node, ast.Lambda):
        return
    yield from info.node.decorator_list
    if info.module.functions.get(info.qualname) is not info:
        return
    match info.module.assigned.get(info.qualname):
        case ast.Call(func=func, args=[ast.Name(id=name), *_], lineno=row):
            if name == info.qualname and row > info.node.lineno:
                yield func


class _Ends:
    """Where the values of a decorator come from: calls of torch's, or the function as it is.

    It does not tell a decorator from one that makes it, nor from the wrapper that it returns: all
    of them are followed to what they return in the end.
    """

    def __init__(self, analysis: Analysis, seen: set[ast.AST] | None = None) -> None:
        self.analysis = analysis
        self.found: set[str] = set()
        self.seen: set[ast.AST] = set() if seen is None else seen

    @property
    def keeps_out(self) -> bool:
        """Whether any of the ends keeps a function out."""
        return any(self.found)

    def follow(self, module: ModuleInfo, node: ast.expr, around: _Around) -> None:
        """Note where a value comes from; ``around`` are the functions that its expression is in."""
        if node in self.seen:
            return
        self.seen.add(node)
        match node:
            case ast.IfExp(body=body, orelse=other):
                self.follow(module, body, around)
                if not _torch_has(module, node.test):
                    self.follow(module, other, around)
            case ast.BoolOp(values=values):
                for value in values:
                    self.follow(module, value, around)
                    if _torch_has(module, value):
                        break
            case ast.Lambda(body=body):
                self.follow(module, body, (*around, node))
            case ast.Name() | ast.Attribute():
                self._name(module, node, around)
            case ast.Call() if _asked_for(module, node) in _KEPT_OUT:
                self._dotted(module, _asked_for(module, node))
            case ast.Call():
                self._call(module, node, around)
            case _:
                self.found.add(_TRACED)

    def _call(self, module: ModuleInfo, node: ast.Call, around: _Around) -> None:
        name = dotted_name(module, node.func)
        if name == OPERATOR:
            self.found.add(name)
        elif name in _KEPT_OUT:
            self.found.add(name if _is_given(node, around) else _TRACED)
        elif name == "functools.partial" and node.args:
            self.follow(module, node.args[0], around)
        else:
            self.follow(module, node.func, around)

    def _name(self, module: ModuleInfo, node: ast.Name | ast.Attribute, around: _Around) -> None:
        if isinstance(node, ast.Name):
            for place in range(len(around), 0, -1):
                if self._local(module, node.id, around[:place]):
                    return
        self._dotted(module, dotted_name(module, node))

    def _dotted(self, module: ModuleInfo, name: str | None) -> None:
        if name in _KEPT_OUT:
            self.found.add(name)
        elif name is None or is_present(name):
            self.found.add(_TRACED)
        else:
            self._global(module, name)

    def _local(self, module: ModuleInfo, name: str, around: _Around) -> bool:
        """Follow what the innermost function binds to a name; false where it does not."""
        bound = name in _parameters(around[-1])
        if bound:
            self.found.add(_TRACED)
        for node in own_nodes(around[-1]):
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() if node.name == name:
                    self._nested(module, node, around)
                    bound = True
                case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                    self.follow(module, value, around)
                    bound = True
                case ast.Import() | ast.ImportFrom():
                    meant = dict(local_imports(module, node)).get(name)
                    if meant is not None:
                        self._dotted(module, meant)
                        bound = True
        return bound

    def _nested(
        self, module: ModuleInfo, node: ast.FunctionDef | ast.AsyncFunctionDef, around: _Around
    ) -> None:
        for decorator in node.decorator_list:
            ends = _Ends(self.analysis, self.seen)
            ends.follow(module, decorator, around)
            if ends.keeps_out:
                self.found |= ends.found
                return
        self.returned(module, node, around)

    def _global(self, module: ModuleInfo, name: str) -> None:
        project = self.analysis.project
        dotted = "." in name
        match project.lookup(name, module) if dotted else project.member(module, name):
            case FunctionInfo() as function:
                self._either(function)
            case (ModuleInfo() as owner, str() as variable) if variable in owner.assigned:
                self.follow(owner, owner.assigned[variable], ())
            case (ModuleInfo() as owner, str() as made) if made in owner.functions:
                self._either(owner.functions[made])
            case _:
                self.found.add(_TRACED)

    def _either(self, function: FunctionInfo) -> None:
        """Follow a function, or what the file has in its place where torch is new enough."""
        owner, name = function.module, function.qualname
        instead = owner.assigned.get(name)
        if instead is not None and owner.functions.get(name) is function:
            ends = _Ends(self.analysis, self.seen)
            ends.follow(owner, instead, ())
            if ends.keeps_out:
                self.found |= ends.found
                return
        self.found |= _ends_of(self.analysis, function)

    def returned(self, module: ModuleInfo, node: FunctionNode, around: _Around) -> None:
        """Follow what a function returns."""
        for inner in own_nodes(node):
            if isinstance(inner, ast.Return) and inner.value is not None:
                self.follow(module, inner.value, (*around, node))


def _asked_for(module: ModuleInfo, node: ast.expr) -> str | None:
    """The dotted name of what an expression names, also by ``getattr(x, "name")``."""
    match node:
        case ast.Call(
            func=ast.Name(id="getattr" | "hasattr"), args=[owner, ast.Constant(value=str(name)), *_]
        ):
            above = _asked_for(module, owner)
            return f"{above}.{name}" if above else None
        case ast.Name() | ast.Attribute():
            return dotted_name(module, node)
    return None


def _torch_has(module: ModuleInfo, test: ast.expr) -> bool:
    """True for a test whether torch has something that keeps functions out, or what that is in."""
    if isinstance(test, ast.Name):
        test = module.assigned.get(test.id, test)
    match test:
        case ast.BoolOp(op=ast.And(), values=parts):
            names = [_asked_for(module, part) for part in parts]
        case ast.Compare(left=left, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            named = module.assigned.get(left.id, left) if isinstance(left, ast.Name) else left
            names = [_asked_for(module, named)]
        case _:
            names = [_asked_for(module, test)]
    return all(any(f"{one}.".startswith(f"{name}.") for one in _KEPT_OUT) for name in names)


def _ends_of(analysis: Analysis, info: FunctionInfo) -> frozenset[str]:
    """Where what a function at the top level returns comes from; many decorate with the same."""
    known = analysis.ends.get(info)
    if known is None:
        analysis.ends[info] = frozenset()  # for one that comes back to itself
        ends = _Ends(analysis)
        ends.returned(info.module, info.node, ())
        known = analysis.ends[info] = frozenset(ends.found)
    return known


def _is_given(node: ast.Call, around: _Around) -> bool:
    """Whether a decorator of torch is applied to what the function around it is given or defines.

    Without a function it makes a decorator.
    """
    named = [keyword.value for keyword in node.keywords if keyword.arg == "fn"]
    match [*node.args, *named]:
        case [] | [ast.Lambda(), *_]:
            return True
        case [ast.Name(id=name), *_]:
            return any(name in _parameters(outer) or name in _defined(outer) for outer in around)
    return False


def _parameters(node: FunctionNode) -> set[str]:
    spec = node.args
    return {argument.arg for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}


def _defined(node: FunctionNode) -> set[str]:
    return {inner.name for inner in own_nodes(node) if isinstance(inner, NESTED)}
