"""Methods that a base only declares: what an object of it does is what the classes below say."""

from __future__ import annotations

import ast
from typing import Final

from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.symbols import ClassInfo, FunctionInfo
from tclint.semantics.syntax import ATTRIBUTE, NAME
from tclint.semantics.values import Function, Object, Union, Value

ONE_BELOW: Final = "one of a class below"
"""The name of an object that stands for those of its class."""
_DECLARED: Final = frozenset({"abstractmethod", "abc.abstractmethod"})


def implementation(
    frame: Frame, base: Object, cls: ClassInfo, method: FunctionInfo, node: ast.expr
) -> Value | None:
    """The methods of the classes below that an object may have which is annotated as its base.

    None where the method does something itself, or the object is known: made in view, or ``self``,
    whose class is walked as each of those below it.
    """
    if frame.region is None or base.site is not None or base.fields is not None:
        return None
    if not _is_declared(method) or _is_of_self(frame, node):
        return None
    project = frame.analysis.project
    found: dict[Value, None] = {}
    for below in project.overriding(cls, method.name):
        own = below.methods[method.name]
        if not own.decorators and not _is_declared(own):
            receiver = Object(ONE_BELOW, below, is_module=project.is_module_class(below))
            found[Function(own, receiver)] = None
    if len(found) < 2:
        return next(iter(found), None)
    return Union(tuple(found), frozenset(found))


def is_any_below(callee: Union) -> bool:
    """True for what `implementation` gives where several classes write the method.

    Which of them it is nobody knows, nor what it gives, unless they all give the same.
    """
    first = callee.options[0]
    owner = first.bound if isinstance(first, Function) else None
    return isinstance(owner, Object) and owner.name == ONE_BELOW


def _is_declared(method: FunctionInfo) -> bool:
    """True for ``raise NotImplementedError``, and for what is marked as abstract."""
    if not _DECLARED.isdisjoint(method.decorators):
        return True
    node = method.node
    if isinstance(node, ast.Lambda):
        return False
    match [one for one in node.body if not _is_text(one)]:
        case [ast.Raise(exc=ast.Name(id=name) | ast.Call(func=ast.Name(id=name)))]:
            return name == "NotImplementedError"
    return False


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_of_self(frame: Frame, node: ast.expr) -> bool:
    owner = node.value if isinstance(node, ATTRIBUTE) else None
    function = frame.body.function
    if not isinstance(owner, NAME) or function is None or function.cls is None:
        return False
    arguments = function.node.args
    first = next(iter((*arguments.posonlyargs, *arguments.args)), None)
    return first is not None and first.arg == owner.id
