"""A read in the `forward` of an inner module: done by the caller, one graph break fewer."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Applicability, Edit, Span
from tclint.lint.rewrite import AddArgument, Insert, Repair, Replace, Rewrite, Splice
from tclint.semantics.site import Site
from tclint.semantics.symbols import ClassInfo

from ..proofs.purity import is_pure

_MESSAGE: Final = (
    "Read it in the caller, which passes it on: the frame in between breaks no more, and `forward` "
    "gets an optional parameter"
)
_CHANGES: Final = (
    "`forward` has one more parameter, which its callers pass: whatever takes its place (another "
    "module, a subclass elsewhere, a patched `forward`) has to take it too, and a hook that "
    "changes the arguments does so after the read"
)
# Decorators that hand all arguments on, and leave values as they are.
_HARMLESS: Final = frozenset({"torch.no_grad", "torch.inference_mode", "torch.enable_grad"})
_OWN_NAMES: Final = (ast.comprehension, ast.Lambda)
_YIELDS: Final = (ast.Yield, ast.YieldFrom)
_SIMPLE: Final = (ast.Assign, ast.Return, ast.Expr, ast.AnnAssign)


def hoist_read(site: Site, node: ast.expr) -> Repair | None:
    """Move ``v = <read>`` at the top of a ``forward`` to the modules that call it."""
    function, statement = site.function, site.statement
    if function is None or function.cls is None or function.name != "forward":
        return None
    definition = function.node
    if not isinstance(definition, ast.FunctionDef) or statement not in definition.body:
        return None
    if not _HARMLESS.issuperset(function.decorators) or len(function.decorators) != len(
        definition.decorator_list
    ):
        return None
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is node:
            formula = _formula(site, definition, statement)
            if formula is None or _is_extended(site, function.cls):
                return None
            if not _may_be_parameter(site, definition, name):
                return None
            moved = [*_callers(site, function.cls, definition, name, formula)]
            spliced = _parameter(site, definition, name)
            if not moved or spliced is None:
                return None
            kept = Replace(statement, f"if {name} is None:\n    $read", {"read": statement})
            rewrites = (*moved, kept, spliced)
            return Repair(_MESSAGE, rewrites, Applicability.UNSAFE, _CHANGES)
    return None


def _may_be_parameter(site: Site, function: ast.FunctionDef, name: str) -> bool:
    """True for a variable that is bound here alone, and that a caller can name as well."""
    arguments = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    inside = len(site.stores(name)) == 1 and name not in arguments
    return inside and not site.body.is_declared(name) and not name.startswith("__")


def _formula(site: Site, function: ast.FunctionDef, read: ast.Assign) -> ast.expr | None:
    """The read as a computation on parameters alone, if nothing but such came before it."""
    known: dict[str, ast.expr] = {}
    if not _reads_purely(site, read.value) or any(
        isinstance(n, _YIELDS) for n in ast.walk(function)
    ):
        return None
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


def _reads_purely(site: Site, read: ast.expr) -> bool:
    """True where all but the reading itself only computes, with no variables of its own."""
    if not isinstance(read, ast.Call) or any(isinstance(n, _OWN_NAMES) for n in ast.walk(read)):
        return False
    owner = [read.func.value] if isinstance(read.func, ast.Attribute) else []
    arguments = [*read.args, *(keyword.value for keyword in read.keywords)]
    return all(is_pure(site, part) for part in (*owner, *arguments))


def _is_extended(site: Site, cls: ClassInfo) -> bool:
    """True when a class of the file derives from this one: its `forward` may take less."""
    bases = (base for other in site.module.classes.values() for base in other.bases)
    return any(isinstance(base, ast.Name) and base.id == cls.name for base in bases)


def _callers(
    site: Site, cls: ClassInfo, function: ast.FunctionDef, name: str, formula: ast.expr
) -> Iterator[Rewrite]:
    wanted = _names(formula)
    for owner in site.module.classes.values():
        attributes = _holding(site, owner, cls) if _mentions(site, owner.node, cls.name) else set()
        for method in owner.methods.values() if attributes else ():
            if name in _known(method.node) or "torch" in _bound(method.node):
                continue
            for statement, call in _calls(method.node, attributes):
                given = _arguments(function, call)
                if given is None or not wanted <= given.keys():
                    continue
                text = ast.unparse(_substituted(formula, given))
                yield Insert(statement, f"{name} = {text}")
                yield AddArgument(call, name, keyword=name)


def _mentions(site: Site, node: ast.ClassDef, name: str) -> bool:
    """Whether the text of a class has a name in it: most need not be walked."""
    return any(name in line for line in site.module.file.lines[node.lineno - 1 : node.end_lineno])


def _known(function: ast.AST) -> set[str]:
    """All names that occur in a function."""
    return _bound(function) | {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}


def _bound(function: ast.AST) -> set[str]:
    """The variables and arguments of a function."""
    nodes = [*ast.walk(function)]
    arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
    names = (node for node in nodes if isinstance(node, ast.Name))
    return arguments | {name.id for name in names if not isinstance(name.ctx, ast.Load)}


def _holding(site: Site, owner: ClassInfo, cls: ClassInfo) -> set[str]:
    """The attributes that hold an instance of the class, and nothing else in the whole file.

    A class that derives from the owner could put another module there.
    """
    made: dict[int, str] = {}
    for node in ast.walk(owner.node):
        match node:
            case ast.Assign(
                targets=[ast.Attribute() as target], value=ast.Call(func=ast.Name(id=of))
            ):
                if of == cls.name:
                    made[id(target)] = target.attr
    found = set(made.values())
    for node in ast.walk(site.module.tree) if found else ():
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()) if id(node) not in made:
                found.discard(name)
            case ast.Constant(value=str() as name):
                found.discard(name)
    return found


def _calls(function: ast.AST, attributes: set[str]) -> Iterator[tuple[ast.stmt, ast.Call]]:
    """The calls ``self.attribute(...)`` with the simple statements that they are part of."""
    for statement in ast.walk(function):
        if isinstance(statement, _SIMPLE):
            for node in ast.walk(statement):
                match node:
                    case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=attribute)):
                        if attribute in attributes and node is getattr(statement, "value", None):
                            yield statement, node


def _arguments(function: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr] | None:
    """What a call gives for which parameter; None where evaluating it could do something."""
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not all(isinstance(value, (ast.Name, ast.Constant)) for value in values):
        return None
    names = [argument.arg for argument in function.args.args[1:]]
    given = dict(zip(names, call.args, strict=False))
    return given | {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}


def _parameter(site: Site, function: ast.FunctionDef, name: str) -> Splice | None:
    """Add the parameter behind the last one, laid out like it."""
    spec, file = function.args, site.module.file
    if spec.vararg or spec.kwarg or spec.kwonlyargs or spec.posonlyargs or not spec.args[1:]:
        return None
    last = spec.args[-1]
    end = file.span(last).end
    if spec.defaults:
        default = file.span(spec.defaults[-1])
        if "(" in file.excerpt(Span(end, default.start)):
            return None
        end = default.end
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
