"""The server against a client of the language, in one process, with a fake engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.workspace import Workspace

from tclint.config import ConfigError
from tclint.server import features
from tclint.server.session import TclintServer
from tests.server_fake import FakeEngine

CAPABILITIES = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
    ),
    text_document=types.TextDocumentClientCapabilities(
        code_action=types.CodeActionClientCapabilities(
            resolve_support=types.ClientCodeActionResolveOptions(["edit"])
        )
    ),
)


class Session:
    """A server whose outgoing messages are kept."""

    def __init__(self, folder: Path, capabilities: types.ClientCapabilities) -> None:
        self.engine = FakeEngine()
        self.server = features.create_server(self.engine, delay=0.01)
        self.server.protocol._workspace = Workspace(folder.as_uri())
        self.server.protocol.client_capabilities = capabilities
        self.sent: list[types.PublishDiagnosticsParams] = []
        self.logged: list[types.LogMessageParams] = []
        self.server.text_document_publish_diagnostics = self.sent.append  # type: ignore[method-assign]
        self.server.window_log_message = self.logged.append  # type: ignore[method-assign]
        self.uri = (folder / "net.py").as_uri()

    def write(self, text: str, version: int = 1, uri: str = "") -> None:
        item = types.TextDocumentItem(uri or self.uri, "python", version, text)
        self.server.workspace.put_text_document(item)
        self.server.opened_or_changed(item.uri, at_once=version == 1)

    async def settle(self) -> None:
        await asyncio.gather(*self.server._pending.values(), return_exceptions=True)

    async def actions(
        self, diagnostics: list[types.Diagnostic] | None = None, only: list[str] | None = None
    ) -> list[types.CodeAction]:
        # Columns that no document has: edits must not depend on what the client says of them.
        area = types.Range(types.Position(0, 900), types.Position(0, 900))
        context = types.CodeActionContext(diagnostics or [], only=only)
        identifier = types.TextDocumentIdentifier(self.uri)
        params = types.CodeActionParams(identifier, area, context)
        return await features._code_action(self.server, params)

    def words(self) -> list[list[str]]:
        return [[d.message for d in params.diagnostics] for params in self.sent]


Play = Callable[[Session], Coroutine[Any, Any, None]]


@pytest.fixture
def play(tmp_path: Path) -> Callable[..., None]:
    def run(scene: Play, capabilities: types.ClientCapabilities = CAPABILITIES) -> None:
        async def inside() -> None:
            await scene(Session(tmp_path, capabilities))

        asyncio.run(inside())

    return run


def test_opening_reports_and_closing_clears(play: Callable[..., None]) -> None:
    async def scene(session: Session) -> None:
        session.write("x = BAD\n")
        await session.settle()
        session.server.closed(session.uri)
        assert session.words() == [["`BAD` is bad"], []]
        assert session.sent[0].version == 1

    play(scene)


def test_fast_typing_is_checked_once(play: Callable[..., None]) -> None:
    async def scene(session: Session) -> None:
        session.write("x = 1\n")
        await session.settle()
        for version in range(2, 9):
            session.write("x = BAD\n" * version, version)
        await session.settle()
        assert [params.version for params in session.sent] == [1, 8]
        assert len(session.engine.overlays) == 2

    play(scene)


def test_saving_checks_every_open_document_again(play: Callable[..., None]) -> None:
    async def scene(session: Session) -> None:
        session.write("x = 1\n")
        session.write("y = BAD\n", uri="untitled:Untitled-1")
        await session.settle()
        session.server.saved()
        await session.settle()
        assert [params.uri for params in session.sent] == [session.uri, "untitled:Untitled-1"] * 2

    play(scene)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ConfigError("pyproject.toml: no such key"), "tclint: pyproject.toml: no such key"),
        (ZeroDivisionError("by zero"), "tclint crashed on {}: ZeroDivisionError: by zero"),
    ],
    ids=["a configuration error", "a crash in a rule"],
)
def test_an_error_is_logged_once_and_keeps_the_last_good_report(
    play: Callable[..., None], error: Exception, message: str
) -> None:
    async def scene(session: Session) -> None:
        session.write("x = BAD\n")
        await session.settle()
        session.engine.error = error
        for version in (2, 3):
            session.write("x = 1\n", version)
            await session.settle()
        assert session.words() == [["`BAD` is bad"]]
        assert [m.message for m in session.logged] == [message.format(session.uri)]
        assert await session.actions() == []
        session.engine.error = None
        session.write("x = 2\n", 4)
        await session.settle()
        assert session.words()[1:] == [[]]

    play(scene)


def test_an_action_is_resolved_from_the_finding_that_it_names(play: Callable[..., None]) -> None:
    async def scene(session: Session) -> None:
        session.write("x = 1\ny = BAD\n")
        await session.settle()
        offered = await session.actions(list(session.sent[0].diagnostics))
        assert all(action.edit is None for action in offered)
        resolved = await features._resolve(session.server, offered[0])
        assert resolved.edit is not None
        change = (resolved.edit.document_changes or [])[0]
        assert isinstance(change, types.TextDocumentEdit)
        assert change.text_document.version == 1
        assert change.edits[0].range.start == types.Position(1, 4)

    play(scene)


def test_an_action_offered_before_an_edit_is_refused(play: Callable[..., None]) -> None:
    async def scene(session: Session) -> None:
        session.write("x = BAD\n")
        await session.settle()
        offered = await session.actions(list(session.sent[0].diagnostics))
        session.write("\nx = BAD\n", 2)
        with pytest.raises(JsonRpcException, match="has changed") as caught:
            await features._resolve(session.server, offered[0])
        assert caught.value.code == types.LSPErrorCodes.ContentModified

    play(scene)


def test_a_declined_fix_is_refused_with_its_reason(play: Callable[..., None]) -> None:
    async def scene(session: Session) -> None:
        session.write("x = SAD\n")
        await session.settle()
        (ignore,) = await session.actions()
        assert isinstance(ignore.data, dict)
        ignore.data["does"] = "fix"
        with pytest.raises(JsonRpcException, match="too sad"):
            await features._resolve(session.server, ignore)

    play(scene)


def test_a_client_that_cannot_resolve_gets_the_edits_at_once(play: Callable[..., None]) -> None:
    async def scene(session: Session) -> None:
        session.write("x = BAD\n")
        await session.settle()
        actions = await session.actions(only=["quickfix"])
        assert [bool(action.edit and action.edit.changes) for action in actions] == [True, True]

    play(scene, types.ClientCapabilities())


def test_a_client_that_pulls_is_not_pushed_to(play: Callable[..., None]) -> None:
    async def scene(session: Session) -> None:
        session.write("x = BAD\n")
        await session.settle()
        identifier = types.TextDocumentIdentifier(session.uri)
        report = await features._diagnostic(
            session.server, types.DocumentDiagnosticParams(identifier)
        )
        assert [d.code for d in report.items] == ["TCL901"]
        assert session.sent == []

    pulls = types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities())
    play(scene, types.ClientCapabilities(text_document=pulls))


def test_hover_answers_on_the_reported_place_only(play: Callable[..., None]) -> None:
    async def scene(session: Session) -> None:
        session.write("x = BAD\n")
        await session.settle()
        identifier = types.TextDocumentIdentifier(session.uri)
        there = await features._hover(
            session.server, types.HoverParams(identifier, types.Position(0, 5))
        )
        assert there is not None
        assert there.range == types.Range(types.Position(0, 4), types.Position(0, 7))
        beside = types.HoverParams(identifier, types.Position(0, 1))
        assert await features._hover(session.server, beside) is None

    play(scene)


def test_a_document_that_is_not_open_has_no_actions(play: Callable[..., None]) -> None:
    async def scene(session: Session) -> None:
        assert await session.actions() == []
        session.server.closed(session.uri)
        assert session.sent == []

    play(scene)


def test_the_server_announces_what_it_can() -> None:
    server: TclintServer = features.create_server(FakeEngine())
    assert {"textDocument/codeAction", "codeAction/resolve", "textDocument/hover"} <= set(
        server.protocol.fm.features
    )
