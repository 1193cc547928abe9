"""Rewrites of one repair that have nothing to do with each other are carried out apart.

A helper at the top of a file and its call a thousand lines below would else take LibCST through
all that lies between them.
"""

from __future__ import annotations

import ast
from itertools import islice
from typing import TYPE_CHECKING

from tclint.fix.run import block_around, indentation, touched
from tclint.lint.rewrite import Insert, Local, Replace, anchor
from tclint.records import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tclint.fix.run import AstNode
    from tclint.source.file import SourceFile


@record(frozen=True)
class _Placed:
    """A rewrite with its number, and the first and last statement of the block that it touches.

    ``is_own``: what it replaces, or inserts beside, is one of these statements.
    """

    first: int
    last: int
    number: int
    rewrite: Local
    is_own: bool

    @property
    def inserts(self) -> bool:
        """Whether statements are put into the block itself."""
        return self.is_own and isinstance(self.rewrite, Insert)


def apart(file: SourceFile, tree: ast.Module, rewrites: Sequence[Local]) -> list[list[Local]]:
    """Groups of rewrites whose statements others do not touch, in the order of the file."""
    if any(_concerns_neighbours(file, one) for one in rewrites):
        return [[*rewrites]]
    return _groups(file, tree, rewrites)


def nodes_of(rewrite: Local) -> list[AstNode]:
    """The nodes that a rewrite is about: its place, and what it moves there."""
    return [anchor(rewrite), *rewrite.parts.values()]


def _concerns_neighbours(file: SourceFile, rewrite: Local) -> bool:
    """What is taken out leaves its comments and blank lines to the statement below."""
    if isinstance(rewrite, Replace) and not rewrite.template.strip():
        return True
    node = anchor(rewrite)
    return hasattr(node, "body") and _has_comments_below(file, node)


def _has_comments_below(file: SourceFile, node: AstNode) -> bool:
    """True where a block ends with a comment, which belongs to it because it is indented."""
    below = islice(file.lines, node.end_lineno or node.lineno, None)
    line = next((line for line in below if line.strip()), "")
    return line.lstrip().startswith("#") and len(indentation(line)) > node.col_offset


def _groups(file: SourceFile, tree: ast.Module, rewrites: Sequence[Local]) -> list[list[Local]]:
    if len(rewrites) < 2:
        return [[one] for one in rewrites]
    body = block_around(file, tree, [node for one in rewrites for node in nodes_of(one)]).body
    placed = [_placed(file, body, number, one) for number, one in enumerate(rewrites)]
    if any(isinstance(one.rewrite, Replace) and one.is_own for one in placed):
        return [[*rewrites]]
    groups = _joined(placed)
    if len(groups) == 1:
        return groups
    return [part for group in groups for part in _groups(file, tree, group)]


def _placed(file: SourceFile, body: Sequence[ast.stmt], number: int, rewrite: Local) -> _Placed:
    part = touched(file, body, nodes_of(rewrite))
    is_own = anchor(rewrite) in body[part.start : part.stop]
    return _Placed(part.start, part.stop - 1, number, rewrite, is_own)


def _joined(placed: Sequence[_Placed]) -> list[list[Local]]:
    """The rewrites of statements that overlap, or where two insertions may meet, together."""
    groups: list[list[_Placed]] = []
    last = -1
    for one in sorted(placed, key=lambda one: (one.first, one.last, one.number)):
        meets = one.inserts and one.first == last + 1
        if groups and (one.first <= last or (meets and any(o.inserts for o in groups[-1]))):
            groups[-1].append(one)
        else:
            groups.append([one])
        last = max(last, one.last)
    return [[one.rewrite for one in sorted(group, key=lambda one: one.number)] for group in groups]
