"""What an expression is, where tensors of one integer are to become numbers.

It is a number today, a tensor that could be one, a tuple of such, or anything else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import field
from enum import Enum, auto
from typing import Final

from tclint.lint.rewrite import Replace
from tclint.records import record
from tclint.semantics.symbols import ClassInfo, FunctionInfo


class Kind(Enum):
    """What an expression is: a number today, or a tensor of one that the rewriting makes one."""

    OTHER = auto()
    NUMBER = auto()
    DECIMAL = auto()
    INTEGER = auto()
    FRACTION = auto()
    WHOLE = auto()
    """A tensor of a whole number as a float, of which Python makes an integer."""
    GIVEN = auto()
    """A parameter: an integer from now on, by the calls of this class."""
    TRUTH = auto()
    UNSURE = auto()


Kinds = Kind | tuple[Kind, ...]
Env = dict[str, Kinds]

NUMBERS: Final = frozenset({Kind.NUMBER, Kind.DECIMAL})
INTEGERS: Final = frozenset({Kind.NUMBER, Kind.INTEGER, Kind.GIVEN})
ARITHMETIC: Final = frozenset({Kind.INTEGER, Kind.FRACTION, Kind.GIVEN, *NUMBERS})
CHANGED: Final = frozenset(
    {Kind.INTEGER, Kind.FRACTION, Kind.WHOLE, Kind.GIVEN, Kind.TRUTH, Kind.UNSURE}
)
EXACT: Final = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)


@record()
class Method:
    """A method after the walk: what its expressions are, what changes, and why it may not."""

    function: FunctionInfo
    kinds: dict[ast.AST, Kinds] = field(default_factory=dict)
    rewrites: dict[ast.AST, Replace] = field(default_factory=dict)
    reads: set[str] = field(default_factory=set)
    returns: list[Kinds] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)
    divides: bool = False


@record()
class Flow:
    """The methods of a class: what they are given and return, and those that stay as they are.

    ``scalars`` are the attributes, whose numbers have ``suffix`` behind the name, and ``math`` is
    how the file writes that module. ``mentioned`` are the methods that others name, ``replaced``
    those that other classes of the family have, too. ``left`` says why a method stays.
    """

    cls: ClassInfo
    scalars: frozenset[str]
    suffix: str
    math: str
    mentioned: frozenset[str]
    replaced: frozenset[str]
    given: dict[str, Env] = field(default_factory=dict)
    returns: Env = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)
    methods: dict[str, Method] = field(default_factory=dict)


def is_changed(kinds: Kinds) -> bool:
    """True for what is a tensor today, or holds one, and a number after the rewriting."""
    return not CHANGED.isdisjoint(members(kinds))


def members(kinds: Kinds) -> tuple[Kind, ...]:
    """The kinds of a tuple, or the one kind."""
    return kinds if isinstance(kinds, tuple) else (kinds,)


def join(one: Kinds, other: Kinds) -> Kinds:
    """What may be either of two."""
    if one == other:
        return one
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        pairs = zip(one, other, strict=True)
        return tuple(kind for a, b in pairs for kind in members(join(a, b)))
    pair = {one, other}
    if pair == {Kind.NUMBER, Kind.INTEGER}:
        return Kind.INTEGER
    if pair <= INTEGERS:
        return Kind.GIVEN
    return Kind.UNSURE if is_changed(one) or is_changed(other) else Kind.OTHER


def join_all(kinds: Iterable[Kinds]) -> Kinds:
    """What may be any of several."""
    found = list(kinds)
    result: Kinds = found[0] if found else Kind.OTHER
    for kind in found[1:]:
        result = join(result, kind)
    return result


def computed(left: Kinds, op: ast.operator, right: Kinds) -> Kind | None:
    """What arithmetic gives; None where a number may give something else than a tensor does."""
    pair, exact = {left, right}, isinstance(op, EXACT)
    if not is_changed(left) and not is_changed(right):
        if pair == {Kind.NUMBER} and exact:
            return Kind.NUMBER
        return Kind.DECIMAL if pair <= NUMBERS else Kind.OTHER
    if pair <= INTEGERS and exact:
        return Kind.GIVEN if Kind.GIVEN in pair else Kind.INTEGER
    divided = pair <= ARITHMETIC and isinstance(op, (ast.Add, ast.Sub, ast.Mult, ast.Div))
    return Kind.FRACTION if divided and Kind.GIVEN not in pair else None
