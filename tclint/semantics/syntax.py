"""Syntax as the analysis asks for it most often: the kind of a node, and all nodes below one.

mypyc reads a constant without the look-up in a dictionary that ``ast.Name`` costs each time; what
is asked of every expression uses these.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

NAME: Final = ast.Name
ATTRIBUTE: Final = ast.Attribute
CALL: Final = ast.Call
COMPARE: Final = ast.Compare
CONSTANT: Final = ast.Constant
SLICE: Final = ast.Slice
STARRED: Final = ast.Starred
SUBSCRIPT: Final = ast.Subscript
PLAIN: Final = frozenset({ast.Name, ast.Attribute, ast.Constant})
"""Expressions that call nothing."""
_AST: Final = ast.AST
_PLAIN_FIELDS: Final = frozenset(
    "ctx id attr arg asname module level type_comment kind conversion rest kwd_attrs".split()
)
"""They hold a mark, a name or a number, whatever the node."""
_WITH_OTHERS: Final = frozenset({ast.Dict, ast.arguments, ast.Global, ast.Nonlocal})
"""Their lists hold names, or None for what is not there; those of all others hold nodes alone."""
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_OPERATORS: Final = frozenset(
    kind
    for base in (ast.boolop, ast.operator, ast.unaryop, ast.cmpop)
    for kind in base.__subclasses__()
)
"""Python has one node of each: whoever else walks trees in this process may have marked it."""
CHILDLESS: Final = frozenset({ast.Name, ast.Constant, *_OPERATORS})
"""Nodes that have none below them."""

BINDING: Final[dict[type[ast.AST], str]] = {
    ast.FunctionDef: "name",
    ast.AsyncFunctionDef: "name",
    ast.ClassDef: "name",
    ast.ExceptHandler: "name",
    ast.MatchAs: "name",
    ast.MatchStar: "name",
    ast.MatchMapping: "rest",
}
"""What binds a name without a node for it, and the field that holds the name."""


def nodes(root: ast.AST) -> list[ast.AST]:
    """The node and all below it, breadth first, and native where compiled.

    Like `ast.walk`, but without the marks that tell a read from a write (``ast.Load``).
    """
    found = [root]
    for node in found:  # grows while it is walked
        add_children(node, found)
    return found


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below a node, without the marks that tell a read from a write."""
    found: list[ast.AST] = []
    add_children(node, found)
    return found


def add_children(node: ast.AST, found: list[ast.AST]) -> None:
    """Add the `children` of a node to a list; that costs less than a list for each node."""
    sort = type(node)
    if sort in CHILDLESS:
        return
    if isinstance(node, ATTRIBUTE):
        found.append(node.value)
        return
    held: dict[str, object] = node.__dict__
    for name in _holding.get(sort) or _fields_of(sort):
        value = held.get(name)
        if value is None:
            continue
        if isinstance(value, list):
            if sort in _WITH_OTHERS:
                found += [part for part in value if isinstance(part, _AST)]
            else:
                found += value
        elif isinstance(value, _AST):
            found.append(value)


_holding: Final[dict[type[ast.AST], tuple[str, ...]]] = {}
"""The fields of each kind of node that may hold others."""


def _fields_of(sort: type[ast.AST]) -> tuple[str, ...]:
    _holding[sort] = tuple([name for name in sort._fields if name not in _PLAIN_FIELDS])
    return _holding[sort]


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """What a function's body holds, without what is inside of the functions and classes there."""
    body = getattr(scope, "body", [])
    pending: list[ast.AST] = [*body] if isinstance(body, list) else []
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _SCOPES):
            add_children(node, pending)


def asked_of(test: ast.expr) -> Iterator[ast.expr]:
    """The expressions whose truth a test asks, through ``and``, ``or`` and ``not``."""
    match test:
        case ast.BoolOp(values=values):
            for value in values:
                yield from asked_of(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from asked_of(operand)
        case _:
            yield test


def names_in(*roots: ast.AST) -> set[str]:
    """The variables that some code names, to read or to bind them."""
    return {node.id for root in roots for node in nodes(root) if isinstance(node, NAME)}


def start_of(node: ast.AST) -> tuple[int, int]:
    """The row and the column of a node's first character."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def end_of(node: ast.AST) -> tuple[int, int]:
    """The row and the column behind a node's last character."""
    return getattr(node, "end_lineno", 0) or 0, getattr(node, "end_col_offset", 0) or 0


def last_name(node: ast.expr) -> str:
    """``step`` of ``self.optimizer.step`` and of ``step``; nothing for other expressions."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def path_of(node: ast.expr) -> str | None:
    """The key under which a variable or an attribute path is tracked: ``x``, ``self.cache``."""
    if isinstance(node, NAME):
        return node.id
    if not isinstance(node, ATTRIBUTE):
        return None
    owner = path_of(node.value)
    return f"{owner}.{node.attr}" if owner is not None else None


def blocks_of(statement: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of a compound statement, in order."""
    for field in ("body", "handlers", "cases", "orelse", "finalbody"):
        part = getattr(statement, field, None)
        if field in ("handlers", "cases"):
            for owner in part or ():
                yield owner.body
        elif isinstance(part, list) and part:
            yield part


def beside(outer: ast.AST | None, inner: ast.AST) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The statements before and behind one in the block of ``outer`` that holds it."""
    for block in blocks_of(outer) if outer is not None else ():
        for place, statement in enumerate(block):
            if statement is inner:
                return block[:place], block[place + 1 :]
    return [], []
