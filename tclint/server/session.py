"""One client's session: which documents are open, and what is known of each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from tclint import __version__
from tclint.config import requirement_problems
from tclint.server.abilities import Abilities, abilities_of
from tclint.server.analyze import View, analyze
from tclint.server.convert import items
from tclint.server.document import Analysis, Document, document_path
from tclint.server.engine import Engine
from tclint.server.idle_gc import IdleCollector
from tclint.server.notebooks import Notebook
from tclint.server.positions import Columns
from tclint.server.protocol import Protocol
from tclint.server.settings import Settings
from tclint.server.survey import Surveys
from tclint.server.trouble import Trouble

T = TypeVar("T")

DELAY = 0.2
"""Seconds without a keystroke, at most, after which a document is checked again."""
QUICK = 0.25
"""A document whose check takes no more seconds is checked with each keystroke."""
PATIENCE = 2.0
"""Seconds to wait for a client that was asked for its settings."""

_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithNotebook(
            notebook="jupyter-notebook", cells=[types.NotebookCellLanguage("python")]
        )
    ]
)


class TclintServer(LanguageServer):
    """The language server's state and its outgoing messages.

    Documents are kept here and not by pygls, which splits lines where Python's parser and the
    protocol do not. The analysis runs on one worker thread, so that the editor gets answers
    meanwhile.
    """

    def __init__(self, engine: Engine, delay: float = DELAY) -> None:
        super().__init__(
            "tclint",
            __version__,
            protocol_cls=Protocol,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            notebook_document_sync=_NOTEBOOKS,
        )
        self.engine = engine
        self.opened: dict[str, Document] = {}
        self.notebooks: dict[str, Notebook] = {}
        self.settings = Settings()
        self.folder_settings: dict[Path, Settings] = {}
        self.trouble = Trouble(self)
        self.settled = asyncio.Event()
        self._busy = asyncio.Lock()
        self._delay = delay
        self._took: dict[str, float] = {}
        self._analyses: dict[str, Analysis] = {}
        self._good: dict[str, Analysis] = {}
        self._outdated: set[str] = set()
        self._pending: dict[str, asyncio.Task[None]] = {}
        self._published: dict[str, dict[str, list[types.Diagnostic]]] = {}
        self._worker = ThreadPoolExecutor(1, "tclint")
        self._collector = IdleCollector()
        self._abilities: tuple[types.ClientCapabilities, Abilities] | None = None
        self.wrong_settings: list[str] = []
        self.surveys = Surveys()
        self.surveyed: set[str] = set()
        self.surveying: asyncio.Task[None] | None = None

    @property
    def client(self) -> Abilities:
        """What the client can do."""
        said = self.client_capabilities
        if self._abilities is None or self._abilities[0] is not said:
            self._abilities = said, abilities_of(said)
        return self._abilities[1]

    @property
    def columns(self) -> Columns:
        """The conversion of columns that was negotiated with the client."""
        return Columns(self.workspace.position_encoding or types.PositionEncodingKind.Utf16)

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of the workspace."""
        uris = [*self.workspace.folders] or [self.workspace.root_uri]
        paths = [to_fs_path(uri) for uri in uris if uri]
        return tuple(Path(path) for path in paths if path is not None)

    @property
    def view(self) -> View:
        """What the editor shows at the moment."""
        return View(
            tuple(self.opened.values()),
            self.folders,
            self.settings,
            dict(self.folder_settings),
            dict(self._good),
        )

    def path_of(self, uri: str) -> Path:
        """The path of a document, which need not be on disk."""
        folders = self.folders
        return document_path(uri, folders[0] if folders else Path.cwd())

    def document_of(self, uri: str) -> Document | None:
        """The open document that a text belongs to: itself, or the notebook of a cell."""
        known = self.opened.get(uri)
        if known is not None:
            return known
        return next((d for d in self.opened.values() if uri in d.uris), None)

    def show(self, document: Document, *, at_once: bool) -> None:
        """Take over a new state of a document and check it, at once or when typing pauses."""
        self.opened[document.uri] = document
        took = self._took.get(document.uri, 0.0)
        self._schedule(document.uri, 0 if at_once or took <= QUICK else min(self._delay, took))

    def check_all(self) -> None:
        """Check all open documents again: what is around them may have changed."""
        self._outdated.update(self.opened)
        for uri in self.opened:
            self._schedule(uri, 0)
        if self.client.pulls:
            self.refresh_diagnostics()

    def refresh_diagnostics(self) -> None:
        """Have a client that asks for findings ask again."""
        if "diagnostics" in self.client.refreshes:
            self.workspace_diagnostic_refresh(None)

    def refresh_more(self) -> None:
        """Have the client ask again for what depends on its settings."""
        if "lens" in self.client.refreshes:
            self.workspace_code_lens_refresh(None)

    def look_again(self) -> None:
        """Files have come or gone, or a configuration has changed."""
        self._worker.submit(self.engine.forget)
        self.check_all()

    def closed(self, uri: str) -> None:
        """Forget a document."""
        document = self.opened.pop(uri, None)
        self.notebooks.pop(uri, None)
        if document is None:
            return
        task = self._pending.pop(uri, None)
        if task is not None:
            task.cancel()
        for kept in (self._analyses, self._good, self._took, self._published):
            kept.pop(uri, None)
        self._outdated.discard(uri)
        self.trouble.over(uri)
        self.clear(document.uris, ())

    def clear(self, texts: Collection[str], kept: Collection[str]) -> None:
        """Take back what was said of texts, but for those that are kept."""
        for text in texts:
            if text not in kept:
                self._publish(types.PublishDiagnosticsParams(text, []))

    def collect_when_idle(self) -> None:
        """An analysis is done."""
        self._collector.later(self._worker)

    async def current(self, uri: str) -> Analysis | None:
        """What tclint says of a document as it is now; None when there is no answer."""
        document = self.document_of(uri)
        analysis = await self.latest(uri)
        return analysis if analysis is not None and analysis.document is document else None

    async def latest(self, uri: str) -> Analysis | None:
        """Like :meth:`current`, but an earlier answer will do when there is no newer one."""
        if not self.settled.is_set():
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self.settled.wait(), PATIENCE)
            self.settled.set()
        # One after the other: the analysis of one document may answer for others.
        async with self._busy:
            document = self.document_of(uri)
            if document is None:
                return None
            known = self._analyses.get(document.uri)
            is_fresh = known is not None and known.document is document
            if not is_fresh or document.uri in self._outdated:
                await self._analyze(document)
            return self._analyses.get(document.uri)

    async def _analyze(self, document: Document) -> None:
        self._outdated.discard(document.uri)
        view, begun = self.view, perf_counter()
        outcome = await self.on_worker(lambda: analyze(self.engine, document, view))
        if isinstance(outcome, BaseException):
            self.trouble.tell(document.uri, outcome)
            return
        self.trouble.over(document.uri)
        for problem in requirement_problems(outcome[document.uri].config):
            self.trouble.warn(f"tclint: {problem}")
        self._took[document.uri] = perf_counter() - begun
        is_broken = outcome[document.uri].is_broken
        for uri, analysis in outcome.items():
            # Others keep what was said of them while this one cannot be read.
            is_other = uri != document.uri
            if self.opened.get(uri) is not analysis.document or (is_other and is_broken):
                continue
            self._analyses[uri] = analysis
            self._outdated.discard(uri)
            if not analysis.is_broken:
                self._good[uri] = analysis

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

    def items(self, analysis: Analysis) -> dict[str, list[types.Diagnostic]]:
        """An analysis in the protocol's words, for each text that the client knows."""
        return items(analysis, self.columns, self.client)

    def changed_beside(
        self, uri: str
    ) -> Iterator[tuple[Analysis, dict[str, list[types.Diagnostic]]]]:
        """Other documents of which something else is to be said than the client knows."""
        for other, analysis in [*self._analyses.items()]:
            # What was never told of a document is about to be.
            known = self._published.get(other) if other != uri else None
            if known is not None and known != (found := self.items(analysis)):
                self._published[other] = found
                yield analysis, found

    def note(self, analysis: Analysis) -> dict[str, list[types.Diagnostic]]:
        """What the client is being told of a document."""
        found = self._published[analysis.document.uri] = self.items(analysis)
        return found

    def _schedule(self, uri: str, delay: float) -> None:
        task = self._pending.pop(uri, None)
        if task is not None:
            task.cancel()
        if not self.client.pulls:
            self._pending[uri] = asyncio.create_task(self._refresh(uri, delay))

    async def _refresh(self, uri: str, delay: float) -> None:
        await asyncio.sleep(delay)
        analysis = await self.current(uri)
        if analysis is None:
            return
        self._tell(analysis, self.note(analysis))
        for other, found in self.changed_beside(uri):
            self._tell(other, found)
        self.collect_when_idle()

    def _tell(self, analysis: Analysis, found: dict[str, list[types.Diagnostic]]) -> None:
        for text, shown in found.items():
            part = analysis.document.part(text)
            version = part.version if part is not None else None
            self._publish(types.PublishDiagnosticsParams(text, shown, version))

    def _publish(self, params: types.PublishDiagnosticsParams) -> None:
        if not self.client.pulls:
            self.text_document_publish_diagnostics(params)
