"""A server with a fake engine in the test's own process; what it sends is kept."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.workspace import Workspace

from tclint.server import choosing, features, notices
from tests.server_fake import FakeEngine

CAPABILITIES = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
    ),
    text_document=types.TextDocumentClientCapabilities(
        publish_diagnostics=types.PublishDiagnosticsClientCapabilities(data_support=True),
        code_action=types.CodeActionClientCapabilities(
            code_action_literal_support=types.ClientCodeActionLiteralOptions(
                types.ClientCodeActionKindOptions([])
            ),
            data_support=True,
            resolve_support=types.ClientCodeActionResolveOptions(["edit"]),
        ),
    ),
)


class Session:
    """A server whose outgoing messages are kept."""

    def __init__(self, folder: Path, capabilities: types.ClientCapabilities) -> None:
        self.engine = FakeEngine()
        self.server = features.create_server(self.engine, delay=0.01)
        self.server.protocol._workspace = Workspace(folder.as_uri())
        self.server.protocol.client_capabilities = capabilities
        self.server.settled.set()
        self.sent: list[types.PublishDiagnosticsParams] = []
        self.logged: list[str] = []
        self.shown: list[str] = []
        server: Any = self.server
        server.text_document_publish_diagnostics = self.sent.append
        server.window_log_message = lambda m: self.logged.append(m.message)
        server.window_show_message = lambda m: self.shown.append(m.message)
        self.uri = (folder / "net.py").as_uri()

    def write(self, text: str, version: int = 1, uri: str = "") -> None:
        """Open a document, or change the one that is open."""
        item = types.TextDocumentItem(uri or self.uri, "python", version, text)
        if version == 1:
            notices.did_open(self.server, types.DidOpenTextDocumentParams(item))
            return
        known = self.server.opened[item.uri]
        self.server.show(replace(known, version=version, text=text), at_once=False)

    async def settle(self) -> None:
        """Wait until nothing is to be checked."""
        await asyncio.gather(*self.server._pending.values(), return_exceptions=True)

    async def actions(
        self, diagnostics: list[types.Diagnostic] | None = None, only: list[str] | None = None
    ) -> list[types.CodeAction]:
        """The actions on the first line."""
        # Columns that no document has: edits must not depend on what the client says of them.
        area = types.Range(types.Position(0, 900), types.Position(0, 900))
        context = types.CodeActionContext(diagnostics or [], only=only)
        identifier = types.TextDocumentIdentifier(self.uri)
        params = types.CodeActionParams(identifier, area, context)
        offered = await choosing.code_action(self.server, params)
        return [action for action in offered if isinstance(action, types.CodeAction)]

    def words(self) -> list[list[str]]:
        """What was reported, headline by headline."""
        said = ((one.message for one in params.diagnostics) for params in self.sent)
        return [[message.partition("\n")[0] for message in messages] for messages in said]
