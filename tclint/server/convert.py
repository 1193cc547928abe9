"""From findings to what the protocol calls a diagnostic."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from tclint.diagnostics import Confidence, Diagnostic, Effect
from tclint.server.document import Analysis, Reported
from tclint.server.positions import Columns

SOURCE = "tclint"

_SEVERITIES = {
    Effect.INVALID: types.DiagnosticSeverity.Error,
    Effect.GRAPH_BREAK: types.DiagnosticSeverity.Warning,
    Effect.RECOMPILE: types.DiagnosticSeverity.Warning,
    Effect.HOST_SYNC: types.DiagnosticSeverity.Information,
    Effect.DEVICE_COPY: types.DiagnosticSeverity.Information,
    Effect.LAUNCH_OVERHEAD: types.DiagnosticSeverity.Information,
    Effect.COLD_START: types.DiagnosticSeverity.Information,
    Effect.NONE: types.DiagnosticSeverity.Information,
}


def severity(effect: Effect, confidence: Confidence) -> types.DiagnosticSeverity:
    """How loudly an editor should show a finding: one step milder when it is a guess."""
    level = _SEVERITIES[effect]
    if confidence is Confidence.LOW:
        return types.DiagnosticSeverity(level + 1)
    return level


def to_lsp(analysis: Analysis, reported: Reported, columns: Columns) -> types.Diagnostic:
    """The diagnostic that the client is told; ``data`` leads back to the finding."""
    diagnostic = reported.result.diagnostic
    url = diagnostic.url
    return types.Diagnostic(
        range=columns.range(analysis.file, diagnostic.span),
        message=diagnostic.message,
        severity=severity(diagnostic.effect, diagnostic.confidence),
        code=diagnostic.code,
        code_description=types.CodeDescription(url) if url else None,
        source=SOURCE,
        related_information=_related(analysis, diagnostic) or None,
        data={"id": reported.id},
    )


def _related(
    analysis: Analysis, diagnostic: Diagnostic
) -> list[types.DiagnosticRelatedInformation]:
    """The steps to the reported line; the line itself is where the reader is already."""
    here = (analysis.document.uri, diagnostic.span.start.row)
    steps = [(link.function, _uri(analysis, link.filename), link.row) for link in diagnostic.chain]
    return [
        types.DiagnosticRelatedInformation(
            location=types.Location(uri, _start_of(row)),
            message=f"`{function}` leads here from the compiled region's root",
        )
        for function, uri, row in steps
        if (uri, row) != here
    ]


def _uri(analysis: Analysis, filename: str) -> str:
    path = Path(filename)
    if not path.is_absolute():
        path = analysis.config.root / path
    if path == analysis.document.path:
        return analysis.document.uri
    return path.absolute().as_uri()


def _start_of(row: int) -> types.Range:
    place = types.Position(max(row - 1, 0), 0)
    return types.Range(place, place)
