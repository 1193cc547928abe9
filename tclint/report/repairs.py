"""The fix of a finding with its edits: the only place of the reports that needs LibCST."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

from tclint.diagnostics import Decline, Fix
from tclint.source.errors import SourceError
from tclint.source.parse import parse

if TYPE_CHECKING:
    from tclint.lint.engine import Result
    from tclint.source.file import SourceFile


def fix_of(result: Result) -> Fix | Decline | None:
    """The fix, the reason why there is none, or None where the rule never fixes."""
    diagnostic, repair = result.diagnostic, result.repair
    if repair is None or diagnostic.fixable is None:
        return diagnostic.declined
    # LibCST takes a tenth of a second to import: only for reports that carry edits.
    from tclint.fix.edits import edits_for

    edits = edits_for(result.file, _tree_of(result.file), repair)
    if isinstance(edits, Decline):
        return edits
    return Fix(diagnostic.fix_message or repair.message, diagnostic.fixable, repair.change, edits)


@lru_cache(maxsize=4)
def _tree_of(file: SourceFile) -> ast.Module:
    """The syntax of a file with findings; they come sorted by file, so that a few are enough."""
    try:
        return parse(file)
    except SourceError:
        return ast.Module([], [])
