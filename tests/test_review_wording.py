"""What a comment of a review says besides the finding: why, the diff, how to silence it."""

from __future__ import annotations

from pathlib import Path

from tclint.diagnostics import Applicability, Change, Edit, Fix
from tclint.git.diff import Added
from tclint.review.findings import Introduced
from tclint.review.wording import changes, why
from tclint.source.file import SourceFile
from tests.report_samples import item, span

ROOT = Path("/repo")


def introduced(**changed: object) -> Introduced:
    return Introduced(item(ROOT, **changed), "model.py", 7, Added(1, 9), "0", "")


def test_a_comment_says_why_and_how_to_silence() -> None:
    first, second = why(introduced())
    assert first.startswith("Why: The value is on the device. Dynamo breaks the graph")
    assert second == (
        "Silence it: `# tclint: ignore[TCL101]` on the line; `tclint rule TCL101` says when to"
        " leave it."
    )


def test_a_rule_that_is_not_installed_has_no_reason() -> None:
    (only,) = why(introduced(code="ABC1"))
    assert only.startswith("Silence it: `# tclint: ignore[ABC1]`")


def test_a_fix_that_is_no_suggestion_is_shown_as_a_diff_that_ends_where_it_should() -> None:
    file = SourceFile.from_text(ROOT / "m.py", "a = 1\nb = '```'\n")
    fix = Fix("x", Applicability.SAFE, Change.SAME_BITS, (Edit(span(1, 5, 1, 6), "2"),))
    (block,) = changes(file, fix)
    lines = block.splitlines()
    assert (lines[0], lines[-1]) == ("````diff", "````")
    assert {"-a = 1", "+a = 2"} <= {*lines}


def test_a_long_diff_is_left_to_the_command() -> None:
    file = SourceFile.from_text(ROOT / "m.py", "a = 1\n")
    fix = Fix("x", Applicability.SAFE, Change.SAME_BITS, (Edit(span(1, 5, 1, 6), "2\n" * 60),))
    assert changes(file, fix) == []
