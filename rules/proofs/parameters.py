"""Parameters that are declared to be Python numbers."""

from __future__ import annotations

import ast

from tclint.semantics.symbols import FunctionInfo, FunctionNode, parameters_of

from .annotated import is_described_as_number, is_number_type


def is_number_parameter(node: FunctionNode, name: str) -> bool:
    """True for a parameter whose annotation, default or description is a number's."""
    for argument, default in parameters_of(node):
        if argument.arg != name:
            continue
        if argument.annotation is not None:
            return is_number_type(argument.annotation)
        described = not isinstance(node, ast.Lambda) and is_described_as_number(
            ast.get_docstring(node), name
        )
        return described or is_number_literal(default)
    return False


def number_parameter_of(function: FunctionInfo, call: ast.Call, use: ast.expr) -> str:
    """The parameter that ``use`` is passed for, if it is declared as a number; or empty."""
    keyword = next((k.arg for k in call.keywords if k.value is use), None)
    names = [argument.arg for argument, _ in parameters_of(function.node)]
    if function.cls is not None and "staticmethod" not in function.decorators:
        names = names[1:]
    place = next((i for i, argument in enumerate(call.args) if argument is use), None)
    if place is not None and not any(isinstance(a, ast.Starred) for a in call.args[:place]):
        keyword = names[place] if place < len(names) else None
    return keyword if keyword and is_number_parameter(function.node, keyword) else ""


def is_number_literal(node: ast.expr | None) -> bool:
    """True for a written number or bool, with or without a sign."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float))
