"""A fix as data: what to put in the place of which syntax node.

Rules describe a rewriting with these; :mod:`tclint.fix` carries it out with LibCST, so that
comments, spacing and every untouched byte stay. A template is Python source in which ``$name``
stands for a node of the user's program, moved there as it was written.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import field, replace

from tclint.diagnostics import Applicability, Change, Edit
from tclint.records import record


@record(frozen=True)
class Replace:
    """Put ``template`` in the place of an expression or a statement.

    For a statement the template may be several lines; an empty template removes the statement
    (``pass`` stays behind when its block would be empty).
    """

    node: ast.expr | ast.stmt
    template: str
    parts: Mapping[str, ast.expr | ast.stmt] = field(default_factory=dict)


@record(frozen=True)
class Insert:
    """Put statements before or after an existing statement, at its indentation."""

    anchor: ast.stmt
    template: str
    parts: Mapping[str, ast.expr | ast.stmt] = field(default_factory=dict)
    after: bool = False


@record(frozen=True)
class AddArgument:
    """Give a call one more argument; the others stay as they are laid out.

    A ``keyword`` replaces the argument of that name, or comes last. Without one the argument comes
    first.
    """

    call: ast.Call
    template: str
    parts: Mapping[str, ast.expr | ast.stmt] = field(default_factory=dict)
    keyword: str | None = None


@record(frozen=True)
class Import:
    """Make sure that the file has ``import module`` (or ``from module import name``)."""

    module: str
    name: str | None = None


@record(frozen=True)
class Splice:
    """Change text where no node stands: a comment, the annotation that a parameter lacks."""

    edit: Edit


Local = Replace | Insert | AddArgument
"""The rewrites that are about a place in the code."""
Rewrite = Local | Import | Splice


def anchor(rewrite: Local) -> ast.expr | ast.stmt:
    """The node that a rewrite is about."""
    if isinstance(rewrite, Replace):
        return rewrite.node
    return rewrite.anchor if isinstance(rewrite, Insert) else rewrite.call


@record(frozen=True)
class Repair:
    """A fix that a rule offers: all rewrites are carried out, or none.

    ``message`` completes "this fix would ..." in the imperative ("Use `range`"). It is safe if its
    ``change`` is ``SAME_BITS``; any other has to name in ``changes`` what may differ afterwards.
    One that is ``only_shown`` is never applied.

    Raises:
        ValueError: ``changes`` is missing, or says what differs where nothing does.
    """

    message: str
    rewrites: tuple[Rewrite, ...]
    change: Change = Change.SAME_BITS
    changes: str = ""
    only_shown: bool = False

    def __post_init__(self) -> None:
        """Hold the class of a change and its note together."""
        if (self.change is Change.SAME_BITS) == bool(self.changes):
            raise ValueError(f"the fix {self.message!r} is {self.change.value}: {self.changes!r}")

    def differing(self, note: str) -> Repair:
        """The repair where it may change something else as well."""
        changes = f"{self.changes}; {note}" if self.changes else note
        return replace(self, change=Change.BEHAVIOUR, changes=changes)

    @property
    def applicability(self) -> Applicability:
        """Whether it is applied, and whether without being asked for."""
        return applicability(self.change, only_shown=self.only_shown)


def applicability(change: Change, *, only_shown: bool) -> Applicability:
    """How a fix may be applied that changes so much."""
    if only_shown:
        return Applicability.DISPLAY
    return Applicability.SAFE if change is Change.SAME_BITS else Applicability.UNSAFE
