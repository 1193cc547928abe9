"""When does an expression need parentheses in the place where it is put?

The levels follow the table of operator precedence in the Python language reference.
"""

from __future__ import annotations

import ast
from typing import Final, TypeVar

import libcst as cst

ANY: Final = 0
NAMED: Final = 1
EXPRESSION: Final = 2
CONDITIONAL: Final = 3
OR: Final = 4
AND: Final = 5
NOT: Final = 6
COMPARISON: Final = 7
BIT_OR: Final = 8
UNARY: Final = 14
POWER: Final = 15
AWAIT: Final = 16
ATOM: Final = 17

_BINARY: Final[dict[type[cst.BaseBinaryOp], int]] = {
    cst.BitOr: BIT_OR,
    cst.BitXor: 9,
    cst.BitAnd: 10,
    cst.LeftShift: 11,
    cst.RightShift: 11,
    cst.Add: 12,
    cst.Subtract: 12,
    cst.Multiply: 13,
    cst.MatrixMultiply: 13,
    cst.Divide: 13,
    cst.FloorDivide: 13,
    cst.Modulo: 13,
    cst.Power: POWER,
}

_LEVELS: Final[dict[type[cst.BaseExpression], int]] = {
    cst.Tuple: ANY,
    cst.Yield: ANY,
    cst.StarredElement: ANY,
    cst.GeneratorExp: ANY,
    cst.NamedExpr: NAMED,
    cst.Lambda: EXPRESSION,
    cst.IfExp: CONDITIONAL,
    cst.Comparison: COMPARISON,
    cst.Await: AWAIT,
}

# The least level that may stand bare in a field; places not listed take only atoms.
_SLOTS: Final[dict[tuple[type[cst.CSTNode], str], int]] = {
    (cst.Comparison, "left"): BIT_OR,
    (cst.ComparisonTarget, "comparator"): BIT_OR,
    (cst.IfExp, "body"): OR,
    (cst.IfExp, "test"): OR,
    (cst.IfExp, "orelse"): EXPRESSION,
    (cst.Lambda, "body"): EXPRESSION,
    (cst.NamedExpr, "value"): EXPRESSION,
    (cst.Arg, "value"): EXPRESSION,
    (cst.Index, "value"): EXPRESSION,
    (cst.Slice, "lower"): EXPRESSION,
    (cst.Slice, "upper"): EXPRESSION,
    (cst.Slice, "step"): EXPRESSION,
    (cst.Element, "value"): EXPRESSION,
    (cst.StarredElement, "value"): BIT_OR,
    (cst.DictElement, "key"): EXPRESSION,
    (cst.DictElement, "value"): EXPRESSION,
    (cst.StarredDictElement, "value"): BIT_OR,
    (cst.FormattedStringExpression, "expression"): OR,
    (cst.CompFor, "iter"): OR,
    (cst.CompIf, "test"): OR,
    (cst.GeneratorExp, "elt"): EXPRESSION,
    (cst.ListComp, "elt"): EXPRESSION,
    (cst.SetComp, "elt"): EXPRESSION,
    (cst.DictComp, "key"): EXPRESSION,
    (cst.DictComp, "value"): EXPRESSION,
    (cst.Param, "default"): EXPRESSION,
    (cst.Annotation, "annotation"): EXPRESSION,
    (cst.Decorator, "decorator"): EXPRESSION,
    (cst.Yield, "value"): EXPRESSION,
    (cst.From, "item"): EXPRESSION,
    (cst.Expr, "value"): ANY,
    (cst.Assign, "value"): ANY,
    (cst.AnnAssign, "value"): ANY,
    (cst.AugAssign, "value"): ANY,
    (cst.AssignTarget, "target"): ANY,
    (cst.Return, "value"): ANY,
    (cst.For, "iter"): ANY,
    (cst.For, "target"): ANY,
    (cst.CompFor, "target"): ANY,
    (cst.If, "test"): NAMED,
    (cst.While, "test"): NAMED,
    (cst.Assert, "test"): EXPRESSION,
    (cst.Assert, "msg"): EXPRESSION,
    (cst.Raise, "exc"): EXPRESSION,
    (cst.WithItem, "item"): EXPRESSION,
    (cst.Del, "target"): ANY,
}

# Inside these, brackets of the parent let an expression run over several lines.
_BRACKETED: Final = (cst.Arg, cst.Index, cst.Element, cst.DictElement)

Node = TypeVar("Node", bound=cst.BaseExpression)


def fit(parent: cst.CSTNode, field: str, child: Node, *, keep: bool) -> Node:
    """``child`` with the parentheses that its place needs.

    With ``keep``, parentheses that it has already belong to the place and stay.
    """
    if child.lpar and keep:
        return child
    bare = _bare(child)
    if _may_stand(parent, field, bare):
        return bare
    if child.lpar:
        return child
    return child.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def may_stand_bare(parent: cst.CSTNode, field: str, child: cst.BaseExpression) -> bool:
    """True where ``child`` needs no parentheses: those that it has are somebody's choice."""
    return _may_stand(parent, field, _bare(child))


def _may_stand(parent: cst.CSTNode, field: str, child: cst.BaseExpression) -> bool:
    """True where ``child`` means the same without more parentheses."""
    if isinstance(parent, cst.Attribute) and isinstance(child, cst.Integer):
        return bool(child.lpar)
    if isinstance(parent, cst.FormattedStringExpression) and _opens_brace(child):
        return False
    if _level(child) < _slot(parent, field):
        return False
    return isinstance(parent, _BRACKETED) or _on_its_own(child)


def _bare(node: Node) -> Node:
    """The node without redundant parentheses: a tuple's or a generator's own pair stays."""
    if not node.lpar:
        return node
    own = 1 if isinstance(node, (cst.Tuple, cst.GeneratorExp)) else 0
    return node.with_changes(lpar=node.lpar[len(node.lpar) - own :], rpar=node.rpar[:own])


def _level(node: cst.BaseExpression) -> int:
    if node.lpar:
        return ATOM
    if isinstance(node, cst.BinaryOperation):
        return _BINARY[type(node.operator)]
    if isinstance(node, cst.BooleanOperation):
        return AND if isinstance(node.operator, cst.And) else OR
    if isinstance(node, cst.UnaryOperation):
        return NOT if isinstance(node.operator, cst.Not) else UNARY
    return _LEVELS.get(type(node), ATOM)


def _slot(parent: cst.CSTNode, field: str) -> int:
    if isinstance(parent, cst.BinaryOperation):
        if isinstance(parent.operator, cst.Power):
            return AWAIT if field == "left" else UNARY
        return _BINARY[type(parent.operator)] + (field == "right")
    if isinstance(parent, cst.BooleanOperation):
        return (AND if isinstance(parent.operator, cst.And) else OR) + (field == "right")
    if isinstance(parent, cst.UnaryOperation):
        return NOT if isinstance(parent.operator, cst.Not) else UNARY
    return _SLOTS.get((type(parent), field), ATOM)


def _on_its_own(node: cst.BaseExpression) -> bool:
    """False for an expression over several lines that only brackets around it hold together."""
    text = cst.Module([]).code_for_node(node)
    if "\n" not in text and "\r" not in text:
        return True
    try:
        return len(ast.parse(text.strip()).body) == 1
    except SyntaxError:
        return False


def _opens_brace(node: cst.BaseExpression) -> bool:
    return isinstance(node, (cst.Dict, cst.Set, cst.DictComp, cst.SetComp))
