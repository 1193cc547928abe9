"""The last line of a report for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclint.diagnostics import Applicability, Effect
from tclint.report.view import count

if TYPE_CHECKING:
    from tclint.lint.engine import Run


def summary(run: Run) -> str:
    """How much was found and how much of it can be fixed."""
    if not run.results:
        return _without_findings(run)
    found = f"Found {count(len(run.results), 'finding')}{_breaks(run)}."
    fixable = _fixable(run)
    return f"{found} {fixable}" if fixable else found


def _without_findings(run: Run) -> str:
    if run.errors:
        return f"No findings, but {count(len(run.errors), 'file')} could not be checked."
    return "All checks passed!"


def _breaks(run: Run) -> str:
    breaks = sum(result.diagnostic.effect is Effect.GRAPH_BREAK for result in run.results)
    return f" ({count(breaks, 'graph break')})" if breaks else ""


def _fixable(run: Run) -> str:
    offered = [result.diagnostic.fixable for result in run.results]
    safe, unsafe = offered.count(Applicability.SAFE), offered.count(Applicability.UNSAFE)
    if safe and unsafe:
        return f"[*] {safe} fixable with `tclint fix`, {unsafe} more with `--unsafe-fixes`."
    if safe:
        return f"[*] {safe} fixable with `tclint fix`."
    if unsafe:
        return f"{unsafe} fixable with `tclint fix --unsafe-fixes`."
    return ""
