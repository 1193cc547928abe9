"""Take an assert with `and`, `or` or a chain apart, so that each assert asks for one truth."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.site import Site
from tclint.semantics.values import Tensor

from .arguments import certain_tensor
from .declared import takes_numbers
from .promotion import is_boolean
from .purity import cannot_raise, is_pure

Condition = tuple[str, dict[str, ast.expr]]

_OPERATORS: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


def untangle(site: Site, statement: ast.Assert) -> Repair | Decline:
    """Rewrite an assert whose test goes on after a tensor's truth."""
    test = statement.test
    if isinstance(test, ast.UnaryOp):
        inner = test.operand
        if isinstance(inner, ast.BoolOp) and isinstance(inner.op, ast.Or):
            return _split(statement, [("not $part", {"part": value}) for value in inner.values])
        return Decline("a negated `and` or chain cannot be split")
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.Or):
            return _join(site, test)
        return _split(statement, [("$part", {"part": value}) for value in test.values])
    assert isinstance(test, ast.Compare)
    if not all(is_pure(site, middle) for middle in test.comparators[:-1]):
        return Decline("the middle of the chain cannot be evaluated twice")
    return _split(statement, _pairs(test))


def _pairs(chain: ast.Compare) -> list[Condition]:
    sides = (chain.left, *chain.comparators)
    return [
        (f"$left {_OPERATORS[type(op)]} $right", {"left": sides[i], "right": sides[i + 1]})
        for i, op in enumerate(chain.ops)
    ]


def _split(statement: ast.Assert, conditions: list[Condition]) -> Repair:
    """One assert for each condition, with the same message: in that order, the first one fails."""
    lines: list[str] = []
    parts: dict[str, ast.expr | ast.stmt] = {}
    for number, (template, names) in enumerate(conditions):
        line = f"assert {template}"
        for name, node in names.items():
            line = line.replace(f"${name}", f"${name}_{number}")
            parts[f"{name}_{number}"] = node
        lines.append(line)
    if statement.msg is not None:
        parts["message"] = statement.msg
        lines = [f"{line}, $message" for line in lines]
    return Repair("Split the assert", (Replace(statement, "\n".join(lines), parts),))


def _join(site: Site, test: ast.BoolOp) -> Repair | Decline:
    """`a or b` as one tensor, where evaluating all of them at once cannot be noticed."""
    tensors: list[Tensor] = []
    for value in test.values:
        refusal = takes_numbers(site, value)
        if refusal is not None:
            return refusal
        tensor = certain_tensor(site, value)
        if tensor is None or tensor.rank != 0:
            return Decline(f"`{site.text(value)}` is not certainly a tensor without dimensions")
        tensors.append(tensor)
    for value in test.values[1:]:
        if not cannot_raise(site, value):
            return Decline(f"`{site.text(value)}` may raise or write when it is always evaluated")
    spelled = site.spell("torch.logical_or")
    parts = {f"part_{i}": value for i, value in enumerate(test.values)}
    if all(map(is_boolean, tensors)):
        template = " | ".join(f"${name}" for name in parts)
    elif spelled is not None and len(parts) == 2:
        template = f"{spelled}($part_0, $part_1)"
    else:
        return Decline("the conditions are not all boolean tensors")
    return Repair("Combine the tensors instead of their truths", (Replace(test, template, parts),))
