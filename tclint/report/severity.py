"""Which findings are errors to tools that know only errors, warnings and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclint.diagnostics import Confidence, Effect, Worth

if TYPE_CHECKING:
    from tclint.diagnostics import Diagnostic


def level(diagnostic: Diagnostic) -> str:
    """``error`` for code that fails or breaks the graph, ``warning`` for code that is slow.

    What the analysis is not sure of is a ``note``, and so is a hint.
    """
    if diagnostic.confidence is Confidence.LOW or diagnostic.worth is Worth.HINT:
        return "note"
    if diagnostic.effect in {Effect.INVALID, Effect.GRAPH_BREAK}:
        return "error"
    return "warning"
