"""What the client asks about a document: findings, hovers, hints and lenses."""

from __future__ import annotations

from lsprotocol import types

from tclint.diagnostics import Span
from tclint.server.convert import range_of
from tclint.server.document import Analysis
from tclint.server.hover import code_at, compiled_at, finding_text, value_text
from tclint.server.lens import compiled_in
from tclint.server.results import full_report, report_id
from tclint.server.session import TclintServer


async def diagnostic(
    ls: TclintServer, params: types.DocumentDiagnosticParams
) -> types.DocumentDiagnosticReport:
    """The findings of a document, or that they are what they were."""
    uri = params.text_document.uri
    analysis = await ls.latest(uri)
    if analysis is None:
        return types.RelatedFullDocumentDiagnosticReport(items=[])
    found = ls.note(analysis).get(uri, [])
    name = report_id(analysis.document.version, found)
    beside = {}
    if ls.client.related_documents:
        beside = {
            text: full_report(other.document.version, shown)
            for other, told in ls.changed_beside(analysis.document.uri)
            for text, shown in told.items()
        }
    elif any(True for _ in ls.changed_beside(analysis.document.uri)):
        ls.refresh_diagnostics()
    ls.collect_when_idle()
    if params.previous_result_id == name:
        return types.RelatedUnchangedDocumentDiagnosticReport(name, beside or None)
    return types.RelatedFullDocumentDiagnosticReport(
        items=found, result_id=name, related_documents=beside or None
    )


async def hover(ls: TclintServer, params: types.HoverParams) -> types.Hover | None:
    """What is found at a place; else what a code stands for; else what a name is and why."""
    uri = params.text_document.uri
    analysis = await ls.current(uri)
    part = analysis.document.part(uri) if analysis is not None else None
    if analysis is None or part is None:
        return None
    below = types.Position(params.position.line + part.above, params.position.character)
    place = ls.columns.from_client(analysis.file, below)
    found = analysis.touching(place, place)
    named = code_at(analysis.file, place)
    page = ls.engine.page(named[0]) if named is not None else None
    texts = [finding_text(found)] if found else []
    if named is not None and page is not None:
        return _hover(ls, analysis, "\n\n---\n\n".join([*texts, page]), named[1])
    if found:
        return _hover(ls, analysis, texts[0], found[0].span)
    compiled = compiled_at(analysis, place)
    if compiled is not None:
        return _hover(ls, analysis, *compiled)
    view, path, config = ls.view, analysis.document.path, analysis.config
    at = place.row, place.column
    known = await ls.on_worker(
        lambda: ls.engine.explain(
            path, view.around(ls.engine, path, config), config, view.texts, at
        )
    )
    if isinstance(known, BaseException) or not known:
        return None
    return _hover(ls, analysis, value_text(known[0]), known[0].span)


def _hover(ls: TclintServer, analysis: Analysis, text: str, span: Span) -> types.Hover:
    kind = types.MarkupKind.Markdown if ls.client.markdown else types.MarkupKind.PlainText
    area = range_of(analysis, span, ls.columns)[1]
    return types.Hover(types.MarkupContent(kind, text), area)


async def code_lens(ls: TclintServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    """A lens above everything that is compiled."""
    analysis = await ls.current(params.text_document.uri)
    if analysis is None or analysis.document.is_notebook:
        return []
    if not ls.view.settings_of(analysis.document.path).codeLens:
        return []
    return [_lens(one.row, types.Command(one.text, "")) for one in compiled_in(analysis)]


def _lens(row: int, command: types.Command) -> types.CodeLens:
    place = types.Position(row - 1, 0)
    return types.CodeLens(types.Range(place, place), command)
