"""The real server in a process of its own, and a client that asks it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient

if TYPE_CHECKING:
    from pygls.client import JsonRPCClient

Scene = Callable[[LanguageClient], Awaitable[None]]
PATIENCE = 180


def capable(**more: Any) -> types.ClientCapabilities:
    """A client that can do everything but pull; ``more`` are groups of abilities to replace."""
    kinds = types.ClientCodeActionKindOptions(["quickfix", "source.fixAll"])
    documents = types.TextDocumentClientCapabilities(
        publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
            related_information=True,
            tag_support=types.ClientDiagnosticsTagOptions([types.DiagnosticTag.Unnecessary]),
            code_description_support=True,
            data_support=True,
        ),
        code_action=types.CodeActionClientCapabilities(
            code_action_literal_support=types.ClientCodeActionLiteralOptions(kinds),
            data_support=True,
            resolve_support=types.ClientCodeActionResolveOptions(["edit"]),
        ),
        hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.Markdown]),
        diagnostic=more.get("diagnostic"),
    )
    return types.ClientCapabilities(
        text_document=documents,
        workspace=more.get("workspace"),
        window=more.get("window"),
        general=more.get("general"),
    )


class Inbox(dict[str, Any]):
    """The reports that came in, by document; also in order, so that none is missed."""

    def __init__(self) -> None:
        super().__init__()
        self.queue: asyncio.Queue[tuple[str, list[types.Diagnostic]]] = asyncio.Queue()

    def __setitem__(self, uri: str, found: Any) -> None:
        """Take in a report."""
        super().__setitem__(uri, found)
        self.queue.put_nowait((uri, list(found)))


async def started() -> JsonRPCClient:
    """A client of a server that has just been spawned."""
    return await ClientServerConfig([sys.executable, "-m", "tclint", "server"]).start()


@asynccontextmanager
async def session(
    *folders: Path,
    capabilities: types.ClientCapabilities | None = None,
    options: Any = None,
    configuration: dict[str, Any] | None = None,
) -> AsyncIterator[LanguageClient]:
    """A client of a server that has just been started."""
    client = await started()
    assert isinstance(client, LanguageClient)

    client.diagnostics = Inbox()

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(params: types.RegistrationParams) -> None:
        client.registered = [r.method for r in params.registrations]  # type: ignore[attr-defined]

    for scope in (None, *(folder.as_uri() for folder in folders)):
        said = (configuration or {}).get(scope or "")
        if said is not None:
            client.set_configuration({"tclint": said}, scope_uri=scope)
    await client.initialize_session(
        types.InitializeParams(
            capabilities=capable() if capabilities is None else capabilities,
            initialization_options=options,
            workspace_folders=[
                types.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders
            ],
            root_uri=folders[0].as_uri() if folders else None,
        )
    )
    try:
        yield client
    finally:
        await client.shutdown_session()
        await client.stop()


def play(*folders: Path, scene: Scene, patience: float = PATIENCE, **how: Any) -> None:
    """Act a scene out with a client whose workspace has these folders."""

    async def inside() -> None:
        async with session(*folders, **how) as client:
            await asyncio.wait_for(scene(client), patience)

    asyncio.run(inside())


async def reported(client: LanguageClient, uri: str = "") -> list[types.Diagnostic]:
    """The next report, of one document if it is named."""
    assert isinstance(client.diagnostics, Inbox)
    while True:
        about, found = await client.diagnostics.queue.get()
        if uri in ("", about):
            return found


def opened(uri: str, text: str) -> types.DidOpenTextDocumentParams:
    """A document that is opened."""
    return types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 1, text))


def changed(uri: str, version: int, text: str) -> types.DidChangeTextDocumentParams:
    """A document that becomes another text."""
    identifier = types.VersionedTextDocumentIdentifier(version, uri)
    change = types.TextDocumentContentChangeWholeDocument(text)
    return types.DidChangeTextDocumentParams(identifier, [change])


async def offered(
    client: LanguageClient, uri: str, diagnostic: types.Diagnostic
) -> list[types.CodeAction]:
    """What can be done about a finding."""
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(uri),
            diagnostic.range,
            types.CodeActionContext([diagnostic]),
        )
    )
    return [action for action in actions or [] if isinstance(action, types.CodeAction)]


def carried_out(text: str, edit: types.WorkspaceEdit | None, uri: str) -> str:
    """A text after an edit that a client without versions was sent."""
    assert edit is not None
    assert edit.changes is not None
    lines = text.splitlines(keepends=True)

    def offset(position: types.Position) -> int:
        line = lines[position.line] if position.line < len(lines) else ""
        inside = line.encode("utf-16-le")[: position.character * 2].decode("utf-16-le")
        return sum(map(len, lines[: position.line])) + len(inside)

    for change in sorted(edit.changes[uri], key=lambda e: offset(e.range.start), reverse=True):
        start, end = offset(change.range.start), offset(change.range.end)
        text = text[:start] + change.new_text + text[end:]
    return text
