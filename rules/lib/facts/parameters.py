"""Parameters that are declared to be Python numbers."""

from __future__ import annotations

import ast

from tclint.semantics.symbols import FunctionInfo, FunctionNode, parameters_of
from tclint.semantics.syntax import nodes
from tclint.torch_facts import is_tensor_member

from .annotations import is_described_as_number, is_number_type, is_tensor_type


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
    name = parameter_of(function, call, use)
    return name if name and is_number_parameter(function.node, name) else ""


def parameter_of(function: FunctionInfo, call: ast.Call, use: ast.expr) -> str:
    """The parameter that ``use`` is passed for; empty where that is not plain to see."""
    keyword = next((k.arg for k in call.keywords if k.value is use), None)
    names = [argument.arg for argument, _ in parameters_of(function.node)]
    if function.cls is not None and "staticmethod" not in function.decorators:
        names = names[1:]
    place = next((i for i, argument in enumerate(call.args) if argument is use), None)
    if place is not None and not any(isinstance(a, ast.Starred) for a in call.args[:place]):
        keyword = names[place] if place < len(names) else None
    return keyword or ""


def takes_tensor(node: FunctionNode, name: str) -> bool:
    """True for a parameter that is declared a tensor, or only meets tensors in arithmetic."""
    declared = {a.arg: a.annotation for a, _ in parameters_of(node) if a.annotation is not None}
    if name in declared:
        return is_tensor_type(declared[name])
    tensors = {other for other, kind in declared.items() if is_tensor_type(kind)}
    around: dict[ast.AST, ast.AST] = {}
    for outer in nodes(node):
        around |= dict.fromkeys(ast.iter_child_nodes(outer), outer)
        match outer:
            case ast.Attribute(value=ast.Name(id=other), attr=attr) if is_tensor_member(attr):
                tensors.add(other)
    uses = [n for n in nodes(node) if isinstance(n, ast.Name) and n.id == name]
    return name not in tensors and all(
        isinstance(use.ctx, ast.Load) and _meets(use, around, tensors) for use in uses
    )


def _meets(use: ast.AST, around: dict[ast.AST, ast.AST], tensors: set[str]) -> bool:
    """True where one of the variables takes part in the arithmetic around a number."""
    while isinstance(around.get(use), (ast.BinOp, ast.UnaryOp, ast.Compare)):
        use = around[use]
    return any(isinstance(part, ast.Name) and part.id in tensors for part in nodes(use))


def is_number_literal(node: ast.expr | None) -> bool:
    """True for a written number or bool, with or without a sign."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float))
