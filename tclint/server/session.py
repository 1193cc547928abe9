"""One client's session: which documents are open, and what is known of each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from tclint import __version__
from tclint.config import ConfigError
from tclint.server.analyze import analyze
from tclint.server.convert import to_lsp
from tclint.server.document import Analysis, Document, document_path
from tclint.server.engine import Engine
from tclint.server.positions import Columns

T = TypeVar("T")

DELAY = 0.2
"""Seconds without a keystroke after which a document is checked again."""


class TclintServer(LanguageServer):
    """The language server's state and its outgoing messages.

    Documents are synchronised whole: applying partial changes needs agreement on what ends a
    line, and pygls splits lines where Python's parser and the protocol do not. The analysis runs
    on one worker thread, so that the editor gets answers meanwhile.
    """

    def __init__(self, engine: Engine, delay: float = DELAY) -> None:
        super().__init__(
            "tclint", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full
        )
        self.engine = engine
        self.opened: dict[str, Document] = {}
        self._delay = delay
        self._analyses: dict[str, Analysis] = {}
        self._outdated: set[str] = set()
        self._pending: dict[str, asyncio.Task[None]] = {}
        self._complaints: dict[str, str] = {}
        self._worker = ThreadPoolExecutor(1, "tclint")

    @property
    def columns(self) -> Columns:
        """The conversion of columns that was negotiated with the client."""
        return Columns(self.workspace.position_encoding or types.PositionEncodingKind.Utf16)

    @property
    def overlay(self) -> dict[Path, str]:
        """The text of all open documents."""
        return {document.path: document.text for document in self.opened.values()}

    def opened_or_changed(self, uri: str, *, at_once: bool) -> None:
        """Take over the text of a document and check it, at once or when typing pauses."""
        source = self.workspace.get_text_document(uri)
        path = document_path(uri, Path(self.workspace.root_path or Path.cwd()))
        self.opened[uri] = Document(uri, path, source.version or 0, source.source)
        self._schedule(uri, 0 if at_once else self._delay)

    def saved(self) -> None:
        """Check all open documents again: what is on disk now may matter to any of them."""
        self._outdated.update(self.opened)
        for uri in self.opened:
            self._schedule(uri, 0)
        workspace = self.client_capabilities.workspace
        support = workspace.diagnostics if workspace else None
        if self._pulls and support is not None and support.refresh_support:
            self.workspace_diagnostic_refresh(None)

    def closed(self, uri: str) -> None:
        """Forget a document."""
        if self.opened.pop(uri, None) is None:
            return
        task = self._pending.pop(uri, None)
        if task is not None:
            task.cancel()
        self._analyses.pop(uri, None)
        self._outdated.discard(uri)
        self._complaints.pop(uri, None)
        self._publish(types.PublishDiagnosticsParams(uri, []))

    async def current(self, uri: str) -> Analysis | None:
        """What tclint says of a document as it is now; None when there is no answer."""
        analysis = await self.latest(uri)
        if analysis is None or analysis.document is not self.opened.get(uri):
            return None
        return analysis

    async def latest(self, uri: str) -> Analysis | None:
        """Like :meth:`current`, but an earlier answer will do when there is no newer one."""
        document = self.opened.get(uri)
        known = self._analyses.get(uri)
        if document is None:
            return None
        if known is not None and known.document is document and uri not in self._outdated:
            return known
        self._outdated.discard(uri)
        opened = tuple(self.opened.values())
        outcome = await self.on_worker(lambda: analyze(self.engine, document, opened))
        if isinstance(outcome, BaseException):
            self._complain(uri, outcome)
            return known
        self._complaints.pop(uri, None)
        if self.opened.get(uri) is document:
            self._analyses[uri] = outcome
        return outcome

    async def on_worker(self, work: Callable[[], T]) -> T | BaseException:
        """Run something on the worker thread; a crash comes back as a value.

        A rule may raise anything, and must not take the server down with it.
        """
        future = asyncio.get_running_loop().run_in_executor(self._worker, work)
        try:
            await asyncio.wait({future})
        finally:
            # Nobody waits any more: work that has not begun need not be done.
            future.cancel()
        return future.exception() or future.result()

    def items(self, analysis: Analysis) -> list[types.Diagnostic]:
        """An analysis in the protocol's words."""
        return [to_lsp(analysis, reported, self.columns) for reported in analysis.reported]

    @property
    def _pulls(self) -> bool:
        """Whether the client asks for diagnostics; sending them as well would double them."""
        documents = self.client_capabilities.text_document
        return documents is not None and documents.diagnostic is not None

    def _schedule(self, uri: str, delay: float) -> None:
        task = self._pending.pop(uri, None)
        if task is not None:
            task.cancel()
        if not self._pulls:
            self._pending[uri] = asyncio.create_task(self._refresh(uri, delay))

    async def _refresh(self, uri: str, delay: float) -> None:
        await asyncio.sleep(delay)
        analysis = await self.current(uri)
        if analysis is not None:
            items, version = self.items(analysis), analysis.document.version
            self._publish(types.PublishDiagnosticsParams(uri, items, version))

    def _publish(self, params: types.PublishDiagnosticsParams) -> None:
        if not self._pulls:
            self.text_document_publish_diagnostics(params)

    def _complain(self, uri: str, error: BaseException) -> None:
        """Tell the client's log what went wrong, once and not with every keystroke."""
        if isinstance(error, ConfigError):
            message = f"tclint: {error}"
        else:
            message = f"tclint crashed on {uri}: {type(error).__name__}: {error}"
        if self._complaints.get(uri) != message:
            self._complaints[uri] = message
            self.window_log_message(types.LogMessageParams(types.MessageType.Error, message))
