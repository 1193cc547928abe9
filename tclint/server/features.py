"""The requests and notifications that the server understands."""

from __future__ import annotations

from lsprotocol import types

from tclint.server import answers, choosing, commands, notices, workspace
from tclint.server.actions import APPLY, EXPLAIN, FIX_ALL_KIND
from tclint.server.convert import SOURCE
from tclint.server.engine import Engine
from tclint.server.protocol import log_surprises_only
from tclint.server.session import DELAY, TclintServer

_PULL = types.DiagnosticOptions(
    inter_file_dependencies=True, workspace_diagnostics=True, identifier=SOURCE
)
_ACTIONS = types.CodeActionOptions(
    code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL_KIND], resolve_provider=True
)
_LENSES = types.CodeLensOptions(resolve_provider=False)


def create_server(engine: Engine, delay: float = DELAY) -> TclintServer:
    """A server that is ready to be started on a stream or a port."""
    log_surprises_only()
    server = TclintServer(engine, delay)
    server.feature(types.INITIALIZE)(notices.initialize)
    server.feature(types.INITIALIZED)(notices.initialized)
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(notices.did_open)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(notices.did_change)
    server.feature(types.TEXT_DOCUMENT_DID_SAVE)(notices.did_save)
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(notices.did_close)
    server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)(notices.notebook_did_open)
    server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)(notices.notebook_did_change)
    server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)(notices.notebook_did_save)
    server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)(notices.notebook_did_close)
    server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(notices.did_change_configuration)
    server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(notices.did_change_watched_files)
    server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(notices.did_change_folders)
    server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, _PULL)(answers.diagnostic)
    server.feature(types.WORKSPACE_DIAGNOSTIC)(workspace.diagnostic)
    server.feature(types.TEXT_DOCUMENT_HOVER)(answers.hover)
    server.feature(types.TEXT_DOCUMENT_CODE_LENS, _LENSES)(answers.code_lens)
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, _ACTIONS)(choosing.code_action)
    server.feature(types.CODE_ACTION_RESOLVE)(choosing.resolve)
    server.command(EXPLAIN)(commands.explain)
    server.command(APPLY)(commands.apply)
    return server
