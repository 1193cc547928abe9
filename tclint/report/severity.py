"""Which findings are errors to tools that know only errors, warnings and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclint.diagnostics import Effect

if TYPE_CHECKING:
    from tclint.diagnostics import Diagnostic


def level(diagnostic: Diagnostic) -> str:
    """``error`` for code that fails or breaks the graph, ``warning`` for code that is slow.

    A weak finding is a ``note``.
    """
    if diagnostic.weak:
        return "note"
    if diagnostic.effect in {Effect.INVALID, Effect.GRAPH_BREAK}:
        return "error"
    return "warning"
