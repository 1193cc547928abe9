"""Which findings are errors to tools that know only errors, warnings and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclint.diagnostics import Confidence, Effect

if TYPE_CHECKING:
    from tclint.diagnostics import Diagnostic


def level(diagnostic: Diagnostic) -> str:
    """``error`` for code that fails or breaks the graph, ``warning`` for code that is slow.

    What the analysis is not sure of is a ``note``.
    """
    if diagnostic.confidence is Confidence.LOW:
        return "note"
    if diagnostic.effect in {Effect.INVALID, Effect.GRAPH_BREAK}:
        return "error"
    return "warning"
