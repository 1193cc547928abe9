"""From findings to what the protocol calls a diagnostic."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types

from tclint.diagnostics import Diagnostic, Effect, Span
from tclint.lint.codes import UNUSED_SUPPRESSION
from tclint.server.abilities import Abilities
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


def severity(effect: Effect, *, weak: bool) -> types.DiagnosticSeverity:
    """How loudly an editor should show a finding: one step milder when it is weak."""
    level = _SEVERITIES[effect]
    return types.DiagnosticSeverity(level + 1) if weak else level


def items(
    analysis: Analysis, columns: Columns, client: Abilities
) -> dict[str, list[types.Diagnostic]]:
    """What to say of each text of a document: of the whole, or of a notebook's cells."""
    found: dict[str, list[types.Diagnostic]] = {uri: [] for uri in analysis.document.uris}
    for reported in analysis.reported:
        part = analysis.document.part_at(reported.span.start.row)
        found.setdefault(part.uri, []).append(to_lsp(analysis, reported, columns, client))
    return found


def to_lsp(
    analysis: Analysis, reported: Reported, columns: Columns, client: Abilities
) -> types.Diagnostic:
    """The diagnostic that the client is told; ``data`` leads back to the finding."""
    diagnostic = reported.result.diagnostic
    url = diagnostic.url if client.links else None
    is_idle = diagnostic.code == UNUSED_SUPPRESSION and client.tags
    return types.Diagnostic(
        range=range_of(analysis, diagnostic.span, columns)[1],
        message=_message(diagnostic),
        severity=severity(diagnostic.effect, weak=diagnostic.weak),
        code=diagnostic.code,
        code_description=types.CodeDescription(url) if url else None,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if is_idle else None,
        related_information=[*_related(analysis, diagnostic, columns)] or None
        if client.related
        else None,
        data={"id": reported.id} if client.data else None,
    )


def _message(diagnostic: Diagnostic) -> str:
    """The headline, and below it what to do instead: a client may show the first line alone."""
    instead = f"Instead: {diagnostic.instead}" if diagnostic.instead else ""
    return "\n".join(filter(None, (diagnostic.message, instead)))


def range_of(analysis: Analysis, span: Span, columns: Columns) -> tuple[str, types.Range]:
    """Where the client sees a span: the name of the text, and the place in it."""
    part = analysis.document.part_at(span.start.row)
    area = columns.range(analysis.file, span)
    if not part.above:
        return part.uri, area
    start, end = area.start, area.end
    return part.uri, types.Range(
        types.Position(start.line - part.above, start.character),
        types.Position(max(end.line - part.above, 0), end.character),
    )


def _related(
    analysis: Analysis, diagnostic: Diagnostic, columns: Columns
) -> Iterator[types.DiagnosticRelatedInformation]:
    """The steps to the reported line, which is where the reader is already, and its effects."""
    here = (analysis.document.path, diagnostic.span.start.row)
    for link in diagnostic.chain:
        path = _path(analysis, link.filename)
        if (path, link.row) != here:
            yield types.DiagnosticRelatedInformation(
                location=_location(analysis, path, link.row),
                message=f"`{link.function}` leads here from the compiled region's root",
            )
    for span in diagnostic.related:
        uri, area = range_of(analysis, span, columns)
        yield types.DiagnosticRelatedInformation(types.Location(uri, area), "here it shows")


def _path(analysis: Analysis, filename: str) -> Path:
    path = Path(filename)
    return path if path.is_absolute() else analysis.config.root / path


def _location(analysis: Analysis, path: Path, row: int) -> types.Location:
    if path == analysis.document.path:
        part = analysis.document.part_at(row)
        return types.Location(part.uri, _start_of(row - part.above))
    return types.Location(path.absolute().as_uri(), _start_of(row))


def _start_of(row: int) -> types.Range:
    place = types.Position(max(row - 1, 0), 0)
    return types.Range(place, place)
