"""Findings made by hand, for the tests of reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest  # noqa: TC002

from tclint.diagnostics import (
    Applicability,
    ChainLink,
    Confidence,
    Diagnostic,
    Edit,
    Effect,
    Position,
    Span,
)
from tclint.lint.engine import Result, Run
from tclint.lint.repair import PlacedRepair
from tclint.report.view import View
from tclint.source.errors import FileError
from tclint.source.file import SourceFile

SOURCE = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            y = x.mean().item()
        return helper(x) * y
"""
"""A module with two findings."""
WHY = (
    "The value is on the device. Dynamo breaks the graph, the CPU waits for the GPU, and a second "
    "graph takes the number as its input, for which it recompiles once when the number changes."
)
"""What the page of TCL101 says first of why it hurts."""


def span(row: int, column: int, end_row: int, end_column: int) -> Span:
    return Span(Position(row, column), Position(end_row, end_column))


def item(root: Path, **changes: Any) -> Result:
    """``.item()`` on line 7 of ``model.py``, with a safe fix."""
    path = root / "model.py"
    diagnostic = Diagnostic(
        code="TCL101",
        name="item-in-compiled-region",
        message="`.item()` breaks the graph",
        effect=Effect.GRAPH_BREAK,
        confidence=Confidence.HIGH,
        path=path,
        span=span(7, 17, 7, 32),
        gb_ids=("GB0124",),
        chain=(ChainLink("Net.forward", str(path), 5), ChainLink("mean", str(root / "ops.py"), 12)),
        fixable=Applicability.SAFE,
        fix_message="Keep the tensor",
        url="https://example.org/TCL101",
        instead="Keep the tensor",
    )
    repair = PlacedRepair("Keep the tensor")
    text = changes.pop("source", SOURCE)
    result = Result(diagnostic, repair, SourceFile.from_text(path, text))
    return with_changes(result, **changes)


def with_changes(result: Result, **changes: Any) -> Result:
    """The result with other fields of its diagnostic, or another repair."""
    repair = changes.pop("repair", result.repair)
    return replace(result, diagnostic=replace(result.diagnostic, **changes), repair=repair)


def unfixed(root: Path, **changes: Any) -> Result:
    """The same finding without a fix."""
    return item(root, fixable=None, fix_message=None, repair=None, **changes)


def run_of(*results: Result, errors: Sequence[FileError] = ()) -> Run:
    return Run(tuple(results), tuple(errors), 1)


def view_of(root: Path, **changes: Any) -> View:
    return replace(View(root), **changes)


def offer_edits(monkeypatch: pytest.MonkeyPatch, *edits: Edit) -> None:
    """Let every repair come to these edits, without LibCST."""
    monkeypatch.setattr("tclint.fix.edits.edits_for", lambda file, tree, repair: edits)


DROP_ITEM = Edit(span(7, 25, 7, 32), "")
