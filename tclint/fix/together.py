"""What one rule says of several places in a line is fixed as one: half a line helps nobody.

Fixes that touch one line wait for each other (`conflicts.py`), and the first could take away what
proves the second.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from tclint.diagnostics import Decline
from tclint.fix.conflicts import Group, meet
from tclint.fix.edits import edits_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tclint.lint.repair import PlacedRepair
    from tclint.source.file import SourceFile


def together(
    file: SourceFile, tree: ast.Module, groups: Sequence[Group], repairs: Mapping[int, PlacedRepair]
) -> list[Group]:
    """The groups, where those of one rule that stand beside each other get each other's edits.

    ``repairs`` are those that the groups carry out, by number.
    """
    found: list[Group] = []
    of_expressions: list[Group] = []
    for group in groups:
        chosen = of_expressions if _is_of_expressions(repairs[group.number]) else found
        chosen.append(group)
    for beside in _beside(of_expressions):
        found += beside if len(beside) == 1 else _joined(file, tree, beside, repairs)
    return found


def _beside(groups: Sequence[Group]) -> Iterator[list[Group]]:
    """The groups of each rule, those of one line together."""
    rows: dict[tuple[str, int], list[Group]] = defaultdict(list)
    for group in groups:
        rows[group.code, group.edits[-1].span.start.row].append(group)
    for row in rows.values():
        if len(row) > 1:
            row.sort(key=lambda group: group.edits)
        line = row[:1]
        for before, after in pairwise(row):
            if not _share_a_line(before, after):
                yield line
                line = []
            line.append(after)
        yield line


def _is_of_expressions(repair: PlacedRepair) -> bool:
    return all(issubclass(getattr(ast, step.place.kind), ast.expr) for step in repair.steps)


def _share_a_line(one: Group, other: Group) -> bool:
    """True for two that change one line, at different places."""
    shared = {*one.edits} & {*other.edits}
    pairs = [(a, b) for a in one.edits for b in other.edits if not {a, b} & shared]
    apart = all(a.span.end <= b.span.start or b.span.end <= a.span.start for a, b in pairs)
    return apart and any(meet(a, b) for a, b in pairs)


def _joined(
    file: SourceFile, tree: ast.Module, beside: list[Group], repairs: Mapping[int, PlacedRepair]
) -> list[Group]:
    """Groups with the edits of one repair that does what all of theirs do."""
    several = [repairs[group.number] for group in beside]
    joint = replace(
        several[0],
        steps=tuple(step for one in several for step in one.steps),
        imports=tuple(dict.fromkeys(wanted for one in several for wanted in one.imports)),
        edits=tuple(dict.fromkeys(edit for one in several for edit in one.edits)),
    )
    edits = edits_for(file, tree, joint)
    if isinstance(edits, Decline):
        return beside
    return [replace(group, edits=edits) for group in beside]
