"""Branches that an ordinary call does not take: what is found there depends on how code is used."""

from __future__ import annotations

import ast

from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.lattice import may_be_tensor, options
from tclint.semantics.symbols import parameters_of
from tclint.semantics.syntax import ATTRIBUTE, NAME
from tclint.semantics.values import NONE, Static, Value


def is_off_by_default(frame: Frame, test: ast.expr, *, outcome: bool) -> bool:
    """True when a test comes out like this only if somebody asks for it.

    That is a flag that nobody has turned on, anything but a default, an entry of an optional dict,
    what is there for debugging or for a file that is run itself, and a module that is called
    without its first input.
    """
    if isinstance(test, (NAME, ATTRIBUTE)):
        value = frame.body.values.get(test)
        return outcome and (_is_off(value) or (_is_for_debugging(test) and not _is_on(value)))
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return is_off_by_default(frame, operand, outcome=not outcome)
        case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) == outcome:
            return any(is_off_by_default(frame, value, outcome=outcome) for value in values)
        case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(value=None)]):
            return _is_none_by_default(frame, left, op, outcome)
        case ast.Compare(ops=[ast.NotEq()], comparators=[ast.Constant(value="default")]):
            return outcome
        case ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()]):
            return outcome and frame.body.function is not None
        case ast.Compare(left=counted, ops=[ast.Gt()], comparators=[ast.Constant(value=0)]):
            return outcome and _is_left_over(frame, counted)
        case ast.Compare(left=ast.Constant(value=str()), ops=[ast.In()], comparators=[where]):
            return outcome and _is_optional(frame, where)
        case ast.Call():
            asked = _is_optional_entry(frame, test) or _is_for_debugging(test)
            return outcome and (asked or _is_off(frame.body.values.get(test)))
    return False


def _is_off(value: Value | None) -> bool:
    """True for a flag that is off, or None, unless somebody passes it."""
    kinds = [option for option in options(value) if option is not NONE] if value else []
    return bool(kinds) and all(isinstance(kind, Static) and kind.default_off for kind in kinds)


def _is_on(value: Value | None) -> bool:
    """True for a flag that is on unless somebody passes it."""
    return isinstance(value, Static) and bool(value.default or value.value)


def _is_for_debugging(node: ast.expr) -> bool:
    """True for `debug`, `self.debug_shapes` and their like, by the name alone."""
    match node:
        case ast.Call(
            func=ast.Name(id="getattr"),
            args=[_, ast.Constant(value=str() as name), ast.Constant(value=False)],
        ):
            return "debug" in name.lower().split("_")
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return "debug" in name.lower().split("_")
    return False


def _is_none_by_default(frame: Frame, node: ast.expr, op: ast.cmpop, outcome: bool) -> bool:
    if not isinstance(op, (ast.Is, ast.IsNot)):
        return False
    if isinstance(op, ast.IsNot) == outcome:
        return _is_for_debugging(node) or _is_optional_entry(frame, node)
    return isinstance(node, ast.Name) and _is_first_input(frame, node)


def _is_first_input(frame: Frame, node: ast.Name) -> bool:
    """True for the first tensor that a module is given; it may only be None by default."""
    function = frame.body.function
    if frame.chain or function is None or function.cls is None or function.name != "forward":
        return False
    inputs = [*function.node.args.posonlyargs, *function.node.args.args][1:2]
    value = frame.body.values.get(node)
    return [argument.arg for argument in inputs] == [node.id] and (
        value is not None and may_be_tensor(value)
    )


def _is_optional_entry(frame: Frame, node: ast.expr) -> bool:
    """True for ``options.get("key")`` of a dict that is passed for special wishes only."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="get"), args=[ast.Constant(), *rest]):
            default = rest[0] if rest else None
            plain = default is None or (isinstance(default, ast.Constant) and not default.value)
            return plain and _is_optional(frame, owner)
    return False


def _is_optional(frame: Frame, node: ast.expr) -> bool:
    """True for ``**kwargs``, and for a dict that is None by default."""
    function = frame.body.function
    if not isinstance(node, ast.Name) or function is None:
        return False
    spec = function.node.args
    if spec.kwarg is not None and spec.kwarg.arg == node.id:
        return True
    return any(
        argument.arg == node.id and isinstance(default, ast.Constant) and default.value is None
        for argument, default in parameters_of(function.node)
    )


def _is_left_over(frame: Frame, node: ast.expr) -> bool:
    """True for the number of those ``**kwargs`` that nothing takes."""
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
            function = frame.body.function
            rest = function.node.args.kwarg if function is not None else None
            if rest is None:
                return False
            if name == rest.arg:
                return True
            values = [one.value for one in frame.body.flow.made(name)]
            return bool(values) and all(_goes_through(value, rest.arg) for value in values)
    return False


def _goes_through(value: ast.expr | None, name: str) -> bool:
    """True for a comprehension over a dict."""
    if not isinstance(value, (ast.ListComp, ast.SetComp, ast.DictComp)):
        return False
    source = value.generators[0].iter
    if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute):
        source = source.func.value
    return isinstance(source, ast.Name) and source.id == name
