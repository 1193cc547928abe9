"""What Python calls for an object that has a method of its own for it: ``+``, ``[]``, ``with``.

Each answer is None where the object's class defines nothing of the kind.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tclint.semantics.interpreter import operators
from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.interpreter.evaluate import need_numpy
from tclint.semantics.interpreter.functions import call_function
from tclint.semantics.lattice import join, options, present
from tclint.semantics.values import (
    NONE,
    External,
    Function,
    Iteration,
    NumpyScalar,
    Object,
    Static,
    Union,
    Value,
)

if TYPE_CHECKING:
    from tclint.semantics.interpreter.frame import Frame

_BINARY: Final[dict[type[ast.operator], str]] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv",
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow", ast.MatMult: "matmul",
    ast.LShift: "lshift", ast.RShift: "rshift", ast.BitAnd: "and", ast.BitOr: "or",
    ast.BitXor: "xor",
}  # fmt: skip
_UNARY: Final[dict[type[ast.unaryop], str]] = {
    ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__",
}  # fmt: skip
# Each comparison, and the one that asks the same of the other operand.
_COMPARISONS: Final[dict[type[ast.cmpop], tuple[str, str]]] = {
    ast.Lt: ("__lt__", "__gt__"), ast.Gt: ("__gt__", "__lt__"), ast.LtE: ("__le__", "__ge__"),
    ast.GtE: ("__ge__", "__le__"), ast.Eq: ("__eq__", "__eq__"), ast.NotEq: ("__ne__", "__ne__"),
}  # fmt: skip
# Builtin functions that call one of these.
_ASKED: Final = {
    "len": ("__len__",), "float": ("__float__", "__index__"), "int": ("__int__", "__index__"),
    "complex": ("__complex__",), "abs": ("__abs__",), "round": ("__round__",),
    "bool": ("__bool__", "__len__"), "hash": ("__hash__",), "next": ("__next__",),
    "reversed": ("__reversed__",),
}  # fmt: skip
_ITERATING: Final = frozenset(
    "list tuple set frozenset iter enumerate zip sum min max any all sorted map filter".split()
)
_DECLINED: Final = External("builtins.NotImplemented")
_INDEX: Final = Static("int")


def special(frame: Frame, node: ast.expr, owner: Value, name: str, *given: Value) -> Value | None:
    """What a method with a special name of an object's class gives."""
    if not isinstance(owner, Object) or owner.cls is None:
        return None
    if frame.region is None and owner.fields is None:
        return None  # nobody asks what code does that sets things up
    method = frame.analysis.project.method(owner.cls, name)
    if method is None:
        return None
    receiver = Object(owner.name, owner.cls, is_module=owner.is_module, fields=owner.fields)
    result = call_function(frame, Function(method, receiver), Arguments(given), node)
    answers = [option for option in options(result) if option != _DECLINED]
    return join(answers) if answers else None


def may_be_object(value: Value) -> bool:
    """True where some alternative is an object of the project."""
    if type(value) is Union:
        return any(isinstance(option, Object) and option.cls for option in value.options)
    return isinstance(value, Object) and value.cls is not None


def operate(frame: Frame, node: ast.expr, op: ast.operator, left: Value, right: Value) -> Value:
    """The value of ``left op right``, whatever the two are."""
    _need_operands(frame, node, left, right)
    if not may_be_object(left) and not may_be_object(right):
        return operators.binary(op, left, right)
    name = _BINARY[type(op)]
    return join(
        [
            _either(frame, node, (a, f"__{name}__"), (b, f"__r{name}__"))
            or operators.binary(op, a, b)
            for a in present(left)
            for b in present(right)
        ]
    )


def _need_operands(frame: Frame, node: ast.expr, left: Value, right: Value) -> None:
    """Note that a drawn number meets numbers only: Dynamo computes with it beside tensors."""
    if type(left) not in _MAY_BE_DRAWN and type(right) not in _MAY_BE_DRAWN:
        return
    for one in options(left):
        for other in options(right):
            if operators.is_only_drawn(one, other):
                need_numpy(frame, node, one, "arithmetic")
                need_numpy(frame, node, other, "arithmetic")


_MAY_BE_DRAWN: Final = (NumpyScalar, Union)


def augment(frame: Frame, node: ast.expr, op: ast.operator, left: Value, right: Value) -> Value:
    """The value of ``left`` after ``left op= right``."""
    own = special(frame, node, left, f"__i{_BINARY[type(op)]}__", right)
    return operate(frame, node, op, left, right) if own is None else own


def negated(frame: Frame, node: ast.UnaryOp, value: Value) -> Value:
    """The value of ``-x``, ``+x`` and ``~x``; everything but an object is handed back."""
    name = _UNARY.get(type(node.op))
    if name is None or not may_be_object(value):
        return value
    return join([special(frame, node, one, name) or one for one in options(value)])


def compared(frame: Frame, node: ast.expr, op: ast.cmpop, left: Value, right: Value) -> Value:
    """The value of one comparison of two values, neither of which is a union."""
    names = _COMPARISONS.get(type(op))
    if names is not None and (may_be_object(left) or may_be_object(right)):
        result = _either(frame, node, (left, names[0]), (right, names[1]))
        if result is None and isinstance(op, ast.NotEq):
            result = _either(frame, node, (left, "__eq__"), (right, "__eq__"))
        if result is not None:
            return result
    return operators.compare(op, left, right)


def _either(
    frame: Frame, node: ast.expr, one: tuple[Value, str], other: tuple[Value, str]
) -> Value | None:
    (left, name), (right, reflected) = one, other
    result = special(frame, node, left, name, right)
    return special(frame, node, right, reflected, left) if result is None else result


def asked_for_truth(frame: Frame, node: ast.expr, value: Value) -> Value:
    """What decides the truth of a value: for an object, what its method answers."""
    if not may_be_object(value):
        return value
    return join([_truth(frame, node, option) for option in options(value)])


def _truth(frame: Frame, node: ast.expr, value: Value) -> Value:
    for name in _ASKED["bool"]:
        answer = special(frame, node, value, name)
        if answer is not None:
            return answer
    return value


def iterated(frame: Frame, node: ast.expr, value: Value) -> Value:
    """What a loop over a value draws from: for an object, what its method gives."""
    if not may_be_object(value):
        return value
    return join([_iterated(frame, node, option) for option in options(value)])


def _iterated(frame: Frame, node: ast.expr, value: Value) -> Value:
    drawn = special(frame, node, value, "__iter__")
    if isinstance(drawn, Object):
        element = special(frame, node, drawn, "__next__")
        return value if element is None else Iteration(element)
    if drawn is not None:
        return drawn
    element = special(frame, node, value, "__getitem__", _INDEX)
    return value if element is None else Iteration(element)


def shown(frame: Frame, node: ast.expr, value: Value) -> None:
    """Follow the method that makes the text of an object."""
    for option in options(value) if may_be_object(value) else ():
        for name in ("__format__", "__str__", "__repr__"):
            if special(frame, node, option, name, *_FORMAT[name]) is not None:
                break


_FORMAT: Final[dict[str, tuple[Value, ...]]] = {
    "__format__": (Static("str"),), "__str__": (), "__repr__": (),
}  # fmt: skip


def asked(frame: Frame, node: ast.Call, name: str, arguments: Arguments) -> Value | None:
    """What a builtin function gives for an object that has a method for it."""
    names = _ASKED.get(name)
    if names is None or not arguments.positional:
        return None
    first, *rest = arguments.positional
    for method in names:
        answer = special(frame, node, first, method, *rest)
        if answer is not None:
            return answer
    return None


def with_iterated(frame: Frame, node: ast.Call, name: str, arguments: Arguments) -> Arguments:
    """The arguments of a builtin function that goes through them, with what they give."""
    if name not in _ITERATING or not any(map(may_be_object, arguments.positional)):
        return arguments
    calls = name in ("map", "filter")
    given = tuple(
        value if calls and not place else iterated(frame, node, value)
        for place, value in enumerate(arguments.positional)
    )
    return Arguments(given, arguments.keywords, arguments.exact, arguments.rest)


def entered(frame: Frame, node: ast.expr, manager: Value) -> Value:
    """What ``with manager as x`` binds."""
    if isinstance(manager, Iteration):
        return manager.element  # of a function that yields once
    if not may_be_object(manager):
        return manager
    given = [special(frame, node, option, "__enter__") for option in options(manager)]
    known = [value for value in given if value is not None]
    return join(known) if known else manager


def leave(frame: Frame, node: ast.expr, manager: Value) -> None:
    """Follow what the end of a ``with`` block calls."""
    if may_be_object(manager):
        for option in options(manager):
            special(frame, node, option, "__exit__", NONE, NONE, NONE)
