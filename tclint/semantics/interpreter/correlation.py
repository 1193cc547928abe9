"""Variables whose value a condition decided, for when the same condition is asked again.

After ``if self.training: n = draw(x)`` the number ``n`` is a tensor or what it was before; below
``if not self.training`` it is what it was before.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from tclint.semantics.interpreter.frame import Env, Frame
from tclint.semantics.syntax import ATTRIBUTE, NAME, path_of
from tclint.semantics.values import Value


class Decided:
    """A variable's value where ``path`` (or whether it is None) was true, where not, and after.

    ``subject`` is what the path led to then: the condition is the same as long as that is.
    """

    __slots__ = ("about_none", "after", "if_false", "if_true", "path", "subject")

    def __init__(
        self,
        path: str,
        about_none: bool,
        subject: tuple[Value | None, Value | None],
        after: Value,
        if_true: Value | None,
        if_false: Value | None,
    ) -> None:
        self.path: Final = path
        self.about_none: Final = about_none
        self.subject: Final = subject
        self.after: Final = after
        self.if_true: Final = if_true
        self.if_false: Final = if_false


def remember(frame: Frame, test: ast.expr, ends: Sequence[Env]) -> None:
    """Note what the two branches of an ``if`` left behind, now that they have met."""
    asked = _condition(test)
    if asked is None or len(ends) != 2:
        return
    path, about_none, positive = asked
    true, false = ends if positive else reversed(ends)
    for name, after in frame.env.items():
        if true.get(name) is not false.get(name):
            frame.decided[name] = Decided(
                path, about_none, _subject(frame.env, path), after, true.get(name), false.get(name)
            )


def recall(frame: Frame, env: Env, test: ast.expr, *, outcome: bool) -> None:
    """Put back what variables were where ``test`` came out the same way before."""
    asked = _condition(test) if frame.decided else None
    if asked is None:
        return
    path, about_none, positive = asked
    subject = _subject(env, path)
    for name, known in frame.decided.items():
        if (known.path, known.about_none) == (path, about_none) and env.get(name) is known.after:
            value = known.if_true if outcome is positive else known.if_false
            same = all(a is b for a, b in zip(subject, known.subject, strict=True))
            if value is not None and same:
                env[name] = value


def _subject(env: Env, path: str) -> tuple[Value | None, Value | None]:
    return env.get(path.partition(".")[0]), env.get(path)


def _condition(test: ast.expr) -> tuple[str, bool, bool] | None:
    """The path that a test asks about, whether it asks for None, and with which sign."""
    if isinstance(test, (NAME, ATTRIBUTE)):
        path = path_of(test)
        return (path, False, True) if path else None
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            asked = _condition(operand)
            return (asked[0], asked[1], not asked[2]) if asked else None
        case ast.Compare(
            left=left,
            ops=[op],
            comparators=[ast.Constant(value=constant)],
        ) if isinstance(op, (ast.Is, ast.IsNot)) and isinstance(constant, bool | None):
            path, same = path_of(left), isinstance(op, ast.Is)
            positive = same if constant is None else same is constant
            return (path, constant is None, positive) if path else None
    return None
