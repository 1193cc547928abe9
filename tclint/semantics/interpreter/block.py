"""Statements in order; each kind of statement has a function of its own."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from tclint.semantics.interpreter.frame import Frame

WALKERS: Final[dict[type[ast.stmt], Callable[[Frame, ast.stmt], None]]] = {}

W = TypeVar("W", bound=Callable[..., None])


def walks(*kinds: type[ast.stmt]) -> Callable[[W], W]:
    """Register the function that walks these kinds of statements."""

    def register(walker: W) -> W:
        WALKERS.update(dict.fromkeys(kinds, walker))
        return walker

    return register


def walk_block(frame: Frame, statements: Sequence[ast.stmt]) -> None:
    """Walk statements until one of them does not fall through."""
    for statement in statements:
        walker = WALKERS.get(type(statement))
        if walker is not None:
            frame.statement = statement
            walker(frame, statement)
        if not frame.live:
            return
        if frame.behind is not None:
            _walk_behind(frame, statements[statements.index(statement) + 1 :])
            return


def _walk_behind(frame: Frame, statements: Sequence[ast.stmt]) -> None:
    """Walk what follows an `if` that left the function on one side."""
    assert frame.behind is not None
    reach = frame.behind([*statements])
    frame.behind = None
    with frame.within(reach=reach):
        walk_block(frame, statements)
