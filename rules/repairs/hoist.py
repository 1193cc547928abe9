"""A read in the `forward` of an inner module: done by the caller, one graph break fewer."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Edit, Span
from tclint.lint.rewrite import AddArgument, Insert, Repair, Replace, Rewrite, Splice
from tclint.semantics.site import Site
from tclint.semantics.symbols import ClassInfo

from ..proofs.purity import is_pure

_MESSAGE: Final = (
    "Read it in the caller, which passes it on: the frame in between breaks no more, and `forward` "
    "gets an optional parameter"
)
Definition = ast.FunctionDef | ast.AsyncFunctionDef
_SIMPLE: Final = (ast.Assign, ast.Return, ast.Expr, ast.AnnAssign)


def hoist_read(site: Site, node: ast.expr) -> Repair | None:
    """Move ``v = <read>`` at the top of a ``forward`` to the modules that call it."""
    function, statement = site.function, site.statement
    if function is None or function.cls is None or function.name != "forward":
        return None
    if isinstance(function.node, ast.Lambda) or statement not in function.node.body:
        return None
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is node:
            formula = _formula(site, function.node, statement)
            if formula is None or _is_extended(site, function.cls) or len(site.stores(name)) != 1:
                return None
            moved = [*_callers(site, function.cls, function.node, name, formula)]
            spliced = _parameter(site, function.node, name)
            if not moved or spliced is None:
                return None
            kept = Replace(statement, f"if {name} is None:\n    $read", {"read": statement})
            return Repair(_MESSAGE, (*moved, kept, spliced))
    return None


def _formula(site: Site, function: Definition, read: ast.Assign) -> ast.expr | None:
    """The read as a computation on parameters alone, if nothing but such came before it."""
    known: dict[str, ast.expr] = {}
    for statement in function.body:
        match statement:
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                given = _substituted(value, known)
                if statement is read:
                    free = _names(given) - {a.arg for a in function.args.args[1:]}
                    return None if free else given
                if name in known or not is_pure(site, value):
                    return None
                known[name] = given
            case _:
                return None
    return None


def _is_extended(site: Site, cls: ClassInfo) -> bool:
    """True when a class of the file derives from this one: its `forward` may take less."""
    bases = (base for other in site.module.classes.values() for base in other.bases)
    return any(isinstance(base, ast.Name) and base.id == cls.name for base in bases)


def _callers(
    site: Site, cls: ClassInfo, function: Definition, name: str, formula: ast.expr
) -> Iterator[Rewrite]:
    for owner in site.module.classes.values():
        attributes = _holding(owner, cls) if _mentions(site, owner.node, cls.name) else set()
        for method in owner.methods.values() if attributes else ():
            for statement, call in _calls(method.node, attributes):
                given = _arguments(function, call)
                taken = {n.id for n in ast.walk(method.node) if isinstance(n, ast.Name)}
                wanted = _names(formula)
                if given is None or name in taken or not wanted <= given.keys():
                    continue
                text = ast.unparse(_substituted(formula, given))
                yield Insert(statement, f"{name} = {text}")
                yield AddArgument(call, name, keyword=name)


def _mentions(site: Site, node: ast.ClassDef, name: str) -> bool:
    """Whether the text of a class has a name in it: most need not be walked."""
    return any(name in line for line in site.module.file.lines[node.lineno - 1 : node.end_lineno])


def _holding(owner: ClassInfo, cls: ClassInfo) -> set[str]:
    """The attributes that hold an instance of the class and nothing else."""
    found: set[str] = set()
    others: set[str] = set()
    for node in ast.walk(owner.node):
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            if not isinstance(target, ast.Attribute):
                continue
            match node:
                case ast.Assign(value=ast.Call(func=ast.Name(id=made))) if made == cls.name:
                    found.add(target.attr)
                case _:
                    others.add(target.attr)
    return found - others


def _calls(function: ast.AST, attributes: set[str]) -> Iterator[tuple[ast.stmt, ast.Call]]:
    """The calls ``self.attribute(...)`` with the simple statements that they are part of."""
    for statement in ast.walk(function):
        if isinstance(statement, _SIMPLE):
            for node in ast.walk(statement):
                match node:
                    case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=attribute)):
                        if attribute in attributes and node is getattr(statement, "value", None):
                            yield statement, node


def _arguments(function: Definition, call: ast.Call) -> dict[str, ast.expr] | None:
    """What a call gives for which parameter; None where evaluating it could do something."""
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not all(isinstance(value, (ast.Name, ast.Constant)) for value in values):
        return None
    names = [argument.arg for argument in function.args.args[1:]]
    given = dict(zip(names, call.args, strict=False))
    return given | {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}


def _parameter(site: Site, function: Definition, name: str) -> Splice | None:
    """Add the parameter behind the last one, laid out like it."""
    spec, file = function.args, site.module.file
    if spec.vararg or spec.kwarg or spec.kwonlyargs or spec.posonlyargs or not spec.args[1:]:
        return None
    last = spec.args[-1]
    end = file.span(spec.defaults[-1] if spec.defaults else last).end
    before = file.lines[last.lineno - 1][: file.span(last).start.column - 1]
    between = "," + (f"\n{before}" if not before.strip() else " ")
    return Splice(Edit(Span(end, end), f"{between}{name}=None"))


def _names(node: ast.expr) -> set[str]:
    """The variables that an expression reads, modules like `torch` left out."""
    called = {id(n.value) for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    return {n.id for n in names if not (id(n) in called and n.id == "torch")}


class _Substitution(ast.NodeTransformer):
    def __init__(self, known: dict[str, ast.expr]) -> None:
        self._known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Put a copy of what is known in the place of a variable."""
        return copy.deepcopy(self._known.get(node.id, node))


def _substituted(node: ast.expr, known: dict[str, ast.expr]) -> ast.expr:
    result = _Substitution(known).visit(copy.deepcopy(node))
    assert isinstance(result, ast.expr)
    return result
