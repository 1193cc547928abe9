"""A repair as data: what a rule's rewriting says, with places in the stead of syntax nodes.

What a rule answers is turned into this once. It can be sent to another process, lie in the cache
and outlive the syntax tree; whoever carries it out looks the nodes up in whatever parse of the same
text is at hand.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from tclint.diagnostics import Applicability, Change, Edit
from tclint.lint.rewrite import (
    AddArgument,
    Import,
    Insert,
    Local,
    Repair,
    Replace,
    Splice,
    applicability,
)
from tclint.records import record
from tclint.semantics.syntax import children

Action = Literal["replace", "before", "after", "argument"]
_Node = ast.expr | ast.stmt


class Place(NamedTuple):
    """A syntax node by its kind and its corners, which are counted as :mod:`ast` does."""

    kind: str
    row: int
    column: int
    last_row: int
    last_column: int


@record(frozen=True)
class Step:
    """A rewrite that is about a place in the code; ``keyword`` is that of an added argument."""

    action: Action
    place: Place
    template: str
    parts: Mapping[str, Place]
    keyword: str | None = None


@record(frozen=True)
class PlacedRepair:
    """A :class:`Repair` that is about no syntax tree; ``edits`` are those of comments."""

    message: str
    change: Change = Change.SAME_BITS
    changes: str = ""
    steps: tuple[Step, ...] = ()
    imports: tuple[Import, ...] = ()
    edits: tuple[Edit, ...] = ()
    only_shown: bool = False

    @property
    def applicability(self) -> Applicability:
        """Whether it is applied, and whether without being asked for."""
        return applicability(self.change, only_shown=self.only_shown)

    @property
    def note(self) -> str:
        """How far the program may differ afterwards, and in what; empty where nothing differs."""
        return f"{self.change.value}: {self.changes}" if self.changes else ""


def placed(repair: Repair) -> PlacedRepair:
    """A rule's repair as data."""
    rewrites = repair.rewrites
    return PlacedRepair(
        repair.message,
        repair.change,
        repair.changes,
        tuple(_step(rewrite) for rewrite in rewrites if isinstance(rewrite, Local)),
        tuple(rewrite for rewrite in rewrites if isinstance(rewrite, Import)),
        tuple(rewrite.edit for rewrite in rewrites if isinstance(rewrite, Splice)),
        repair.only_shown,
    )


def located(repair: PlacedRepair, tree: ast.Module) -> list[Local]:
    """The steps of a repair, about the nodes of a tree.

    Raises:
        LookupError: the tree has no such node: it is of another text.
    """
    places = [place for step in repair.steps for place in (step.place, *step.parts.values())]
    nodes = _nodes(tree, places) if places else {}
    return [_rewrite(step, nodes) for step in repair.steps]


def _step(rewrite: Local) -> Step:
    match rewrite:
        case Replace(node, template, parts):
            return Step("replace", _place(node), template, _places(parts))
        case Insert(anchor, template, parts, after):
            action: Action = "after" if after else "before"
            return Step(action, _place(anchor), template, _places(parts))
        case AddArgument(call, template, parts, keyword):
            return Step("argument", _place(call), template, _places(parts), keyword)


def _rewrite(step: Step, nodes: Mapping[Place, _Node]) -> Local:
    node = nodes[step.place]
    parts = {name: nodes[place] for name, place in step.parts.items()}
    if step.action == "replace":
        return Replace(node, step.template, parts)
    if step.action == "argument" and isinstance(node, ast.Call):
        return AddArgument(node, step.template, parts, step.keyword)
    if step.action == "argument" or not isinstance(node, ast.stmt):
        raise LookupError(step.place)
    return Insert(node, step.template, parts, after=step.action == "after")


def _places(parts: Mapping[str, _Node]) -> dict[str, Place]:
    return {name: _place(node) for name, node in parts.items()}


def _place(node: _Node) -> Place:
    last_row, last_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    return Place(type(node).__name__, node.lineno, node.col_offset, last_row, last_column)


def _nodes(tree: ast.Module, places: Sequence[Place]) -> dict[Place, _Node]:
    """The nodes in the rows of some places, by their own; of several with one, the outermost."""
    first, last = min(one.row for one in places), max(one.last_row for one in places)
    found: dict[Place, _Node] = {}
    pending: list[ast.AST] = [tree]
    while pending:
        for node in children(pending.pop()):
            if isinstance(node, _Node):
                above: list[ast.expr] = getattr(node, "decorator_list", [])
                begin = above[0].lineno if above else node.lineno
                if begin > last or (node.end_lineno or begin) < first:
                    continue
                found.setdefault(_place(node), node)
            pending.append(node)  # arguments, handlers and so on have no place, or none of these
    return found
