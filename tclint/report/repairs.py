"""The fix of a finding with its edits: the only place of the reports that needs LibCST."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclint.diagnostics import Decline, Fix
from tclint.lint.stored import tree_of

if TYPE_CHECKING:
    from tclint.lint.engine import Result


def fix_of(result: Result) -> Fix | Decline | None:
    """The fix, the reason why there is none, or None where the rule never fixes."""
    diagnostic, repair = result.diagnostic, result.repair
    if repair is None or diagnostic.fixable is None:
        return diagnostic.declined
    # LibCST takes a tenth of a second to import: only for reports that carry edits.
    from tclint.fix.edits import edits_for

    edits = edits_for(result.file, tree_of(result.file), repair)
    if isinstance(edits, Decline):
        return edits
    return Fix(diagnostic.fix_message or repair.message, diagnostic.fixable, edits)
