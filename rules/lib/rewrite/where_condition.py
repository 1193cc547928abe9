"""The tests of branches as conditions for `torch.where`."""

from __future__ import annotations

import ast

from tclint.diagnostics import Decline
from tclint.records import record
from tclint.semantics.site import Site

from ..facts.conditions import is_plain
from ..facts.known import certain_tensor, is_boolean
from ..facts.purity import is_pure
from ..judge.raising import cannot_raise
from ..judge.verdict import PROVED, Changes, Verdict, combine
from .as_written import as_written

_WIDTH = 100


@record(frozen=True)
class Condition:
    """A template for a boolean tensor without dimensions; ``negated`` when it asks the opposite.

    ``verdict`` is about what it asks that was not always asked.
    """

    template: str
    parts: dict[str, ast.expr]
    negated: bool = False
    verdict: Verdict = PROVED


def condition(site: Site, operands: list[ast.expr]) -> Condition | Decline:
    """Combine tensors that Python's `and` joins into one condition."""
    test = operands[0]
    if len(operands) == 1 and isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        leaf = _leaf(site, test.operand, "test")
        return leaf if isinstance(leaf, Decline) else Condition(leaf.template, leaf.parts, True)
    symbol = " & "
    if len(operands) == 1 and isinstance(test, ast.BoolOp):
        operands = test.values
        symbol = " | " if isinstance(test.op, ast.Or) else symbol
    verdicts: list[Verdict] = []
    for later in operands[1:]:
        plain = later.operand if isinstance(later, ast.UnaryOp) else later
        if not cannot_raise(site, plain):
            if not is_pure(site, plain) or any(
                isinstance(p, ast.Subscript) for p in ast.walk(plain)
            ):
                return Decline(f"`{site.text(later)}` may raise or write if it is always evaluated")
            verdicts.append(Changes(f"`{site.text(later)}` is always evaluated, and may raise"))
    templates: list[str] = []
    parts: dict[str, ast.expr] = {}
    for number, operand in enumerate(operands):
        part = _part(site, operand, f"test_{number}" if number else "test")
        if isinstance(part, Decline):
            return part
        templates.append(part.template)
        parts |= part.parts
    return Condition(symbol.join(templates), parts, verdict=combine(verdicts))


def where_call(
    site: Site, test: Condition, arms: list[ast.expr], column: int
) -> tuple[str, dict[str, ast.expr | ast.stmt]]:
    """The call of `torch.where`, over several lines where one would be too long."""
    texts = ["$a", "$b"]
    parts: dict[str, ast.expr | ast.stmt] = {**test.parts, "a": arms[0], "b": arms[1]}
    if not hasattr(arms[1], "lineno"):
        texts[1] = as_written(parts.pop("b"), site.text)
    given = [test.template, *(reversed(texts) if test.negated else texts)]
    width = sum(len(site.text(part)) + 2 for part in parts.values()) + len(test.template)
    name = str(site.spell("torch.where"))
    if column + len(name) + width + len(texts[1]) > _WIDTH:
        return f"{name}(\n" + "".join(f"    {text},\n" for text in given) + ")", parts
    return f"{name}({', '.join(given)})", parts


def _part(site: Site, operand: ast.expr, name: str) -> Condition | Decline:
    if isinstance(operand, ast.UnaryOp) and isinstance(operand.op, ast.Not):
        leaf = _leaf(site, operand.operand, name)
        spelled = site.spell("torch.logical_not")
        if isinstance(leaf, Decline):
            return leaf
        return Condition(f"{spelled}({leaf.template})", leaf.parts)
    return _leaf(site, operand, name)


def _leaf(site: Site, node: ast.expr, name: str) -> Condition | Decline:
    tensor = certain_tensor(site, node)
    text = site.text(node)
    if tensor is None or not is_plain(node):
        return Decline(f"`{text}` is not known to be a single tensor")
    if tensor.rank != 0 or not is_boolean(tensor):
        return Decline(f"`{text}` is not known to be a 0-d boolean tensor")
    if not is_pure(site, node):
        return Decline(f"`{text}` may have side effects")
    return Condition(f"${name}", {name: node})
