"""The requests and notifications that the server understands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tclint.diagnostics import Decline
from tclint.server.actions import FIX_ALL_KIND, Choice, edits_of, propose, workspace_edit
from tclint.server.convert import SOURCE
from tclint.server.document import Analysis, Reported
from tclint.server.engine import Engine
from tclint.server.hover import hover_text
from tclint.server.session import DELAY, TclintServer


def create_server(engine: Engine, delay: float = DELAY) -> TclintServer:
    """A server that is ready to be started on a stream or a port."""
    server = TclintServer(engine, delay)
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(_did_open)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(_did_change)
    server.feature(types.TEXT_DOCUMENT_DID_SAVE)(_did_save)
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(_did_close)
    server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, _PULL)(_diagnostic)
    server.feature(types.TEXT_DOCUMENT_HOVER)(_hover)
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, _ACTIONS)(_code_action)
    server.feature(types.CODE_ACTION_RESOLVE)(_resolve)
    return server


_PULL = types.DiagnosticOptions(
    inter_file_dependencies=True, workspace_diagnostics=False, identifier=SOURCE
)
_ACTIONS = types.CodeActionOptions(
    code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL_KIND], resolve_provider=True
)


async def _did_open(ls: TclintServer, params: types.DidOpenTextDocumentParams) -> None:
    document = params.text_document
    if document.language_id == "python" or document.uri.endswith((".py", ".pyi")):
        ls.opened_or_changed(document.uri, at_once=True)


async def _did_change(ls: TclintServer, params: types.DidChangeTextDocumentParams) -> None:
    if params.text_document.uri in ls.opened:
        ls.opened_or_changed(params.text_document.uri, at_once=False)


async def _did_save(ls: TclintServer, _: types.DidSaveTextDocumentParams) -> None:
    ls.saved()


async def _did_close(ls: TclintServer, params: types.DidCloseTextDocumentParams) -> None:
    ls.closed(params.text_document.uri)


async def _diagnostic(
    ls: TclintServer, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport:
    analysis = await ls.latest(params.text_document.uri)
    items = ls.items(analysis) if analysis is not None else []
    return types.RelatedFullDocumentDiagnosticReport(items=items)


async def _hover(ls: TclintServer, params: types.HoverParams) -> types.Hover | None:
    analysis = await ls.current(params.text_document.uri)
    if analysis is None:
        return None
    place = ls.columns.from_client(analysis.file, params.position)
    found = analysis.touching(place, place)
    if not found:
        return None
    area = ls.columns.range(analysis.file, found[0].span)
    return types.Hover(hover_text(ls.engine, found), area)


async def _code_action(ls: TclintServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    analysis = await ls.current(params.text_document.uri)
    if analysis is None:
        return []
    chosen = _chosen(analysis, params)
    actions = list(propose(analysis, chosen, params.context.only, ls.columns))
    if _resolves(ls):
        return actions
    finished: list[types.CodeAction] = []
    for action in actions:
        edit = await _edit(ls, analysis, Choice.from_data(action.data))
        if isinstance(edit, types.WorkspaceEdit):
            action.edit = edit
            finished.append(action)
    return finished


async def _resolve(ls: TclintServer, action: types.CodeAction) -> types.CodeAction:
    choice = Choice.from_data(action.data)
    analysis = await ls.current(choice.uri) if choice is not None else None
    if choice is None or analysis is None or analysis.document.version != choice.version:
        raise JsonRpcException(
            "the document has changed since this action was offered",
            types.LSPErrorCodes.ContentModified,
        )
    edit = await _edit(ls, analysis, choice)
    if isinstance(edit, Decline):
        raise JsonRpcException(edit.reason, types.LSPErrorCodes.RequestFailed)
    action.edit = edit
    return action


def _chosen(analysis: Analysis, params: types.CodeActionParams) -> tuple[Reported, ...]:
    """The findings that the client means: those it names, else those on the lines it shows."""
    found = analysis.find(_ids(params.context.diagnostics))
    first, last = params.range.start.line + 1, params.range.end.line + 1
    return found or analysis.on_rows(first, last)


def _ids(diagnostics: Sequence[types.Diagnostic]) -> list[str]:
    ids: list[str] = []
    for diagnostic in diagnostics:
        match diagnostic.data:
            case {"id": str(name)} if diagnostic.source == SOURCE:
                ids.append(name)
    return ids


async def _edit(
    ls: TclintServer, analysis: Analysis, choice: Choice | None
) -> types.WorkspaceEdit | Decline:
    if choice is None:
        return Decline("this is not one of tclint's actions")
    edits = await ls.on_worker(partial(edits_of, ls.engine, analysis, choice, ls.overlay))
    if isinstance(edits, BaseException):
        return Decline(f"tclint crashed: {type(edits).__name__}: {edits}")
    if isinstance(edits, Decline):
        return edits
    return workspace_edit(analysis, edits, ls.columns, versioned=_versions(ls))


def _resolves(ls: TclintServer) -> bool:
    """Whether the client asks for the edits of an action when it is chosen."""
    documents = ls.client_capabilities.text_document
    actions = documents.code_action if documents else None
    support = actions.resolve_support if actions else None
    return support is not None and "edit" in support.properties


def _versions(ls: TclintServer) -> bool:
    """Whether the client understands edits that name the version they are for."""
    workspace = ls.client_capabilities.workspace
    edits = workspace.workspace_edit if workspace else None
    return bool(edits and edits.document_changes)
