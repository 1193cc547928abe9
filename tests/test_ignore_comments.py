"""Adding comments that silence findings, and taking them out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.diagnostics import Edit
from tclint.fix.conflicts import apply_edits
from tclint.source.file import SourceFile
from tclint.source.ignore_comments import ignore_edit, removal_edits
from tclint.source.suppress import suppressions


def source(text: str) -> SourceFile:
    return SourceFile.from_text(Path("a.py"), text)


def test_several_codes_and_a_reason_make_one_comment() -> None:
    file = source("x = f()\n")
    edit = ignore_edit(file, ["TCL101", "TCL301"], 1, "cold path")
    assert isinstance(edit, Edit)
    assert apply_edits(file, [edit]) == "x = f()  # tclint: ignore[TCL101, TCL301]  -- cold path\n"


@pytest.mark.parametrize(
    ("before", "code", "after"),
    [
        ("x = 1  # tclint: ignore[TCL101]\n", "TCL101", "x = 1\n"),
        ("x = 1  # tclint: ignore\r\n", None, "x = 1\r\n"),
        ("x = 1  # tclint: ignore[TCL101]  -- since then\n", "TCL101", "x = 1\n"),
        ("x = 1  # tclint: ignore[TCL1, tcl101 TCL2]  -- why\n", "TCL101",
         "x = 1  # tclint: ignore[TCL1, TCL2]  -- why\n"),
        ("x = 1  # tclint: ignore[TCL101]  # noqa: E501\n", "TCL101", "x = 1  # noqa: E501\n"),
        ("x = 1  # type: ignore  # tclint: ignore[TCL101]\n", "TCL101",
         "x = 1  # type: ignore\n"),
        ("# tclint: ignore-file[TCL101]\nx = 1\n", "TCL101", "x = 1\n"),
        ("x = 1\n# tclint: ignore[TCL101]", "TCL101", "x = 1\n"),
        ("# tclint: disable[TCL101]\nx = 1\n# tclint: enable[TCL101]\n", "TCL101", "x = 1\n"),
        ("# tclint: disable[TCL101, TCL2]\nx\n# tclint: enable[TCL2, TCL101]\n", "TCL101",
         "# tclint: disable[TCL2]\nx\n# tclint: enable[TCL2]\n"),
        ("# tclint: disable[TCL101]\n# tclint: disable[TCL9]\nx\n# tclint: enable\n", "TCL101",
         "# tclint: disable[TCL9]\nx\n# tclint: enable\n"),
        ("# tclint: disable[TCL101, TCL2]\nx\n# tclint: enable\n", "TCL101",
         "# tclint: disable[TCL2]\nx\n# tclint: enable\n"),
    ],
)  # fmt: skip
def test_nothing_but_the_comment_goes(before: str, code: str | None, after: str) -> None:
    file = source(before)
    comment, _ = next(suppressions(file).unused({"TCL101", "TCL1", "TCL2"}))
    assert apply_edits(file, removal_edits(file, comment, code)) == after
