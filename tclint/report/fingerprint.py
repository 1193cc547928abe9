"""A name for a finding that survives edits elsewhere in its file."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tclint.lint.engine import Run
    from tclint.report.view import View


def fingerprints(run: Run, view: View) -> list[str]:
    """One unique text a finding, made of its file, code and line of source, not of its row.

    The same line written twice is told apart by a number.
    """
    seen: Counter[str] = Counter()
    names: list[str] = []
    for result in run.results:
        diagnostic = result.diagnostic
        row = diagnostic.span.start.row
        source = result.file.line(row).strip()
        key = "\0".join((view.posix(diagnostic.path), diagnostic.code, source))
        digest = sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        seen[digest] += 1
        names.append(f"{digest}:{seen[digest]}")
    return names
