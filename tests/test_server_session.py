"""The server against a client of the language, in one process, with a fake engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tclint.config import ConfigError
from tclint.gone import SETTINGS
from tclint.server import answers, choosing, features, notices
from tclint.server.session import TclintServer
from tests.server_fake import FakeEngine
from tests.server_session import CAPABILITIES, Session

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


def test_a_change_around_checks_every_open_document_again(play: Callable[..., None]) -> None:
    async def scene(session: Session) -> None:
        session.write("x = 1\n")
        session.write("y = BAD\n", uri="untitled:Untitled-1")
        await session.settle()
        session.server.check_all()
        await session.settle()
        assert [params.uri for params in session.sent] == [session.uri, "untitled:Untitled-1"] * 2

    play(scene)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ConfigError("pyproject.toml: no such key"), "tclint: pyproject.toml: no such key"),
        (ZeroDivisionError("by zero"), "tclint crashed on {}: ZeroDivisionError: by zero ("),
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
        (said,) = session.logged
        assert said.startswith(message.format(session.uri))
        assert "\n" not in said
        assert session.shown == [said]
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
        resolved = await choosing.resolve(session.server, offered[0])
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
            await choosing.resolve(session.server, offered[0])
        assert caught.value.code == types.LSPErrorCodes.ContentModified

    play(scene)


def test_a_declined_fix_is_refused_with_its_reason(play: Callable[..., None]) -> None:
    async def scene(session: Session) -> None:
        session.write("x = SAD\n")
        await session.settle()
        ignore, _ = await session.actions()
        assert isinstance(ignore.data, dict)
        ignore.data["does"] = "fix"
        with pytest.raises(JsonRpcException, match="too sad"):
            await choosing.resolve(session.server, ignore)

    play(scene)


def test_a_client_that_cannot_resolve_gets_the_edits_at_once(play: Callable[..., None]) -> None:
    async def scene(session: Session) -> None:
        session.write("x = BAD\n")
        await session.settle()
        actions = await session.actions(only=["quickfix"])
        assert [bool(a.edit and a.edit.changes) for a in actions] == [True, True, False]
        assert actions[-1].command is not None

    literals = types.ClientCodeActionLiteralOptions(types.ClientCodeActionKindOptions([]))
    documents = types.TextDocumentClientCapabilities(
        code_action=types.CodeActionClientCapabilities(code_action_literal_support=literals)
    )
    play(scene, types.ClientCapabilities(text_document=documents))


def test_a_client_that_knows_commands_only_gets_commands(play: Callable[..., None]) -> None:
    async def scene(session: Session) -> None:
        session.write("x = BAD\n")
        await session.settle()
        place = types.Range(types.Position(0, 0), types.Position(0, 0))
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(session.uri), place, types.CodeActionContext([])
        )
        offered = await choosing.code_action(session.server, params)
        names = [a.command for a in offered if isinstance(a, types.Command)]
        assert names == ["tclint.apply", "tclint.apply", "tclint.explain", "tclint.apply"]

    workspace = types.WorkspaceClientCapabilities(apply_edit=True)
    play(scene, types.ClientCapabilities(workspace=workspace))


def test_other_documents_keep_their_findings_while_one_cannot_be_read(
    play: Callable[..., None],
) -> None:
    async def scene(session: Session) -> None:
        other = session.uri.replace("net", "other")
        session.write("x = BAD\n")
        session.write("y = BAD\n", uri=other)
        await session.settle()
        session.engine.error = None
        before = len(session.sent)
        session.write("y = BROKEN\n", 2, uri=other)
        await session.settle()
        assert [params.uri for params in session.sent[before:]] == [other]

    play(scene)


def test_settings_turn_the_server_off(play: Callable[..., None]) -> None:
    async def scene(session: Session) -> None:
        session.write("x = BAD\n")
        await session.settle()
        said = {"enable": False, "colour": 1, "inlayHints": True}
        off = types.DidChangeConfigurationParams({"tclint": said})
        await notices.did_change_configuration(session.server, off)
        await session.settle()
        assert session.words()[-1] == []
        assert session.shown == [
            "tclint: settings: there is no 'colour'",
            "tclint: settings: there is no 'inlayHints'; it was removed: " + SETTINGS["inlayHints"],
        ]

    play(scene)


def test_a_client_that_pulls_is_not_pushed_to(play: Callable[..., None]) -> None:
    async def scene(session: Session) -> None:
        session.write("x = BAD\n")
        await session.settle()
        identifier = types.TextDocumentIdentifier(session.uri)
        report = await answers.diagnostic(
            session.server, types.DocumentDiagnosticParams(identifier)
        )
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        assert [d.code for d in report.items] == ["TCL901"]
        assert session.sent == []

    pulls = types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities())
    play(scene, types.ClientCapabilities(text_document=pulls))


def test_hover_answers_on_the_reported_place_only(play: Callable[..., None]) -> None:
    async def scene(session: Session) -> None:
        session.write("x = BAD\n")
        await session.settle()
        identifier = types.TextDocumentIdentifier(session.uri)
        there = await answers.hover(
            session.server, types.HoverParams(identifier, types.Position(0, 5))
        )
        assert there is not None
        assert there.range == types.Range(types.Position(0, 4), types.Position(0, 7))
        beside = types.HoverParams(identifier, types.Position(0, 1))
        assert await answers.hover(session.server, beside) is None

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
