"""A read at the top of an inner module's ``forward``, done by the caller: fewer frames break.

Where a read breaks the graph in a module that another one calls, every frame between it and the
compiled one is split. Done by the caller, the call in between is traced as a whole.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Change, Edit, Span
from tclint.lint.rewrite import AddArgument, Insert, Repair, Replace, Rewrite, Splice
from tclint.semantics.site import Site
from tclint.semantics.symbols import ClassInfo

from ..facts.purity import is_pure
from .as_written import as_written

_MESSAGE: Final = (
    "Read it in the caller, which passes it on: the graph still breaks there, but no longer in "
    "the frames in between"
)
_CHANGES: Final = (
    "`{}` has one more parameter, which the callers in this file pass: what takes the module's "
    "place (a subclass elsewhere, a patched `forward`) has to take it too, and a hook that changes "
    "the arguments does so after the read"
)
# Decorators that hand all arguments on, and leave values as they are.
_HARMLESS: Final = frozenset({"torch.no_grad", "torch.inference_mode", "torch.enable_grad"})
_MODULES: Final = frozenset({"torch.nn.Module", "torch.nn.modules.Module"})
_OWN_NAMES: Final = (ast.comprehension, ast.Lambda)
_YIELDS: Final = (ast.Yield, ast.YieldFrom)
_SIMPLE: Final = (ast.Assign, ast.Return, ast.Expr, ast.AnnAssign)
_AGREED: Final = 2
"""What is called with so many arguments is not swapped for a module that takes one."""


def read_by_caller(site: Site, node: ast.expr) -> Repair | None:
    """Move ``v = <read>`` at the top of a ``forward`` to the modules of the file that call it."""
    function, statement = site.function, site.statement
    if function is None or function.cls is None or function.name != "forward":
        return None
    definition = function.node
    if not isinstance(definition, ast.FunctionDef) or statement not in definition.body:
        return None
    decorated = len(definition.decorator_list)
    if not _HARMLESS.issuperset(function.decorators) or len(function.decorators) != decorated:
        return None
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is node:
            formula = _formula(site, definition, statement)
            if formula is None or not _may_be_parameter(site, definition, name):
                return None
            moved = [*_callers(site, function.cls, definition, name, formula)]
            added = _parameter(site, definition, name)
            if not moved or added is None or not _takes_all(site, function.cls):
                return None
            kept = Replace(statement, f"if {name} is None:\n    $read", {"read": statement})
            rewrites = (*moved, kept, added)
            changes = _CHANGES.format(function.qualname)
            return Repair(_MESSAGE, rewrites, Change.BEHAVIOUR, changes, moves=True)
    return None


def _may_be_parameter(site: Site, function: ast.FunctionDef, name: str) -> bool:
    """True for a variable that is bound here alone, and that a caller can name as well."""
    arguments = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    inside = len(site.stores(name)) == 1 and name not in arguments
    return inside and not site.body.is_declared(name) and not name.startswith("__")


def _formula(site: Site, function: ast.FunctionDef, read: ast.Assign) -> ast.expr | None:
    """The read as a computation on parameters alone, if nothing but such came before it."""
    known: dict[str, ast.expr] = {}
    given = {argument.arg for argument in function.args.args[1:]}
    if not _reads_purely(site, read.value) or any(
        isinstance(part, _YIELDS) for part in ast.walk(function)
    ):
        return None
    for statement in function.body:
        match statement:
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                formula = _substituted(value, known)
                if statement is read:
                    return None if _names(formula) - given else formula
                if name in known or name in given or not is_pure(site, value):
                    return None
                known[name] = formula
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


def _takes_all(site: Site, cls: ClassInfo) -> bool:
    """True where a call of the module hands all its arguments to the `forward` that is seen here.

    A `__call__` may take less, and so may the `forward` of a class of the file that derives from
    this one, or one that is put in the place of this.
    """
    plain = all(site.dotted(base) in _MODULES for base in cls.bases)
    bases = (base for other in site.module.classes.values() for base in other.bases)
    extended = any(isinstance(base, ast.Name) and base.id == cls.name for base in bases)
    patched = any(_may_store(node, "forward") for node in ast.walk(site.module.tree))
    return plain and not extended and not patched and "__call__" not in cls.methods


def _callers(
    site: Site, cls: ClassInfo, function: ast.FunctionDef, name: str, formula: ast.expr
) -> Iterator[Rewrite]:
    """Let the calls in compiled code that may do it read, and pass what they read."""
    wanted = _names(formula)
    for call, (caller, _) in site.body.calls.items():
        statement = _statement(caller, call)
        scope = caller.body.scope
        if statement is None or caller.module is not site.module or caller.body is site.body:
            continue
        if isinstance(scope, ast.Module) or not _holds_only(site, caller, call, cls):
            continue
        given = _arguments(function, call)
        if given is None or not wanted <= given.keys() or name in _known(scope):
            continue
        if "torch" in _bound(scope):
            continue
        text = as_written(_substituted(formula, given), site.text)
        yield Insert(statement, f"{name} = {text}")
        yield AddArgument(call, name, keyword=name)


def _statement(caller: Site, call: ast.Call) -> ast.stmt | None:
    """The simple statement whose value a call is, outside of what makes a break dearer."""
    statement = caller.parent(call)
    if not isinstance(statement, _SIMPLE) or statement.value is not call:
        return None
    around = [*caller.ancestors(statement)]
    plain = all(isinstance(one, (ast.If, ast.FunctionDef, ast.arguments)) for one in around)
    return statement if plain else None


def _holds_only(site: Site, caller: Site, call: ast.Call, cls: ClassInfo) -> bool:
    """Whether the call is of ``self.attribute``, where the file puts this module and no other.

    A class that derives from the owner could put another one there.
    """
    match call.func:
        case ast.Attribute(value=ast.Name(id="self"), attr=attribute) if caller.cls is not None:
            made = set(map(id, _making(caller.cls.node, attribute, cls.name)))
            stores = (n for n in ast.walk(site.module.tree) if _may_store(n, attribute))
            return bool(made) and made.issuperset(map(id, stores))
    return False


def _making(owner: ast.ClassDef, attribute: str, name: str) -> Iterator[ast.Attribute]:
    """The targets of ``self.attribute = Name(...)``."""
    for node in ast.walk(owner):
        match node:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=attr) as target],
                value=ast.Call(func=ast.Name(id=made)),
            ) if (attr, made) == (attribute, name):
                yield target


def _may_store(node: ast.AST, attribute: str) -> bool:
    match node:
        case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
            return name == attribute
        case ast.Constant(value=str() as name):
            return name == attribute
    return False


def _arguments(function: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr] | None:
    """What a call gives for which parameter; None where evaluating it could do something."""
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    plain = all(isinstance(value, (ast.Name, ast.Constant)) for value in values)
    if not plain or len(values) < _AGREED:
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


def _known(function: ast.AST) -> set[str]:
    """All names that occur in a function."""
    return _bound(function) | {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}


def _bound(function: ast.AST) -> set[str]:
    """The variables and arguments of a function."""
    nodes = [*ast.walk(function)]
    arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
    names = (node for node in nodes if isinstance(node, ast.Name))
    return arguments | {name.id for name in names if not isinstance(name.ctx, ast.Load)}


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
