"""Runs the engine on one document, with the other open documents around it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.config import Config, ConfigError
from tclint.records import record
from tclint.server.document import Analysis, Document, report_ids
from tclint.server.engine import Engine
from tclint.server.settings import Settings
from tclint.server.stale_findings import outside
from tclint.source.errors import SourceError
from tclint.source.file import SourceFile
from tclint.source.parse import parse

if TYPE_CHECKING:
    from tclint.lint.engine import Result
    from tclint.lint.looked import Looked


@record(frozen=True)
class View:
    """What an editor shows at one moment: its documents, its folders and its settings.

    ``good`` are the last analyses of documents that Python could read.
    """

    documents: tuple[Document, ...]
    folders: tuple[Path, ...] = ()
    settings: Settings = field(default_factory=Settings)
    by_folder: Mapping[Path, Settings] = field(default_factory=dict)
    good: Mapping[str, Analysis] = field(default_factory=dict)

    @property
    def texts(self) -> dict[Path, str]:
        """The text of all documents."""
        return {document.path: document.text for document in self.documents}

    def folder(self, path: Path) -> Path | None:
        """The innermost workspace folder that holds a path."""
        holding = [folder for folder in self.folders if path.is_relative_to(folder)]
        return max(holding, key=lambda folder: len(folder.parts), default=None)

    def config(self, engine: Engine, path: Path) -> Config:
        """The configuration of a file.

        Raises:
            ConfigError: it cannot be read or says something it must not.
        """
        return engine.config(path, self.folder(path), self.settings_of(path))

    def settings_of(self, path: Path) -> Settings:
        """The client's settings for a file: those of its folder, or of the whole session."""
        folder = self.folder(path)
        known = self.by_folder.get(folder) if folder is not None else None
        return known if known is not None else self.settings

    def around(self, engine: Engine, path: Path, config: Config) -> tuple[Path, ...]:
        """The files to check for the sake of one."""
        folder = self.folder(path)
        alike = [document.path for document in self._alike(engine, config, folder)]
        return engine.around(path, [*dict.fromkeys((path, *alike))], config, folder, self.texts)

    def _alike(self, engine: Engine, config: Config, folder: Path | None) -> Iterable[Document]:
        """The documents that the same configuration holds for, without those that it excludes."""
        for document in self.documents:
            path = document.path
            if self.folder(path) != folder or not self._has(engine, path, config):
                continue
            if not (path.exists() and engine.excludes(path, config)):
                yield document

    def _has(self, engine: Engine, path: Path, config: Config) -> bool:
        """Whether this is the configuration of a file; one that is wrong is that file's matter."""
        try:
            return self.config(engine, path) == config
        except ConfigError:
            return False


def analyze(engine: Engine, document: Document, view: View) -> dict[str, Analysis]:
    """Check a document as the editor shows it; runs on a worker thread.

    The answer tells of all open documents that were checked with it, by their names. Files that a
    run over the project would leave out, such as an installed library that somebody looks into,
    have no findings here either.

    Raises:
        ConfigError: the configuration cannot be read or says something it must not.
    """
    config = view.config(engine, document.path)
    if not view.settings_of(document.path).enable or (
        document.path.exists() and engine.excludes(document.path, config)
    ):
        file = SourceFile.from_text(document.path, document.text)
        return {document.uri: Analysis(document, file, config, ())}
    paths = view.around(engine, document.path, config)
    run = engine.check(paths, config, view.texts)
    by_path: dict[Path, list[Result]] = {path: [] for path in paths}
    for result in run.results:
        by_path[result.diagnostic.path].append(result)
    troubled = {error.path for error in run.errors}
    return {
        one.uri: _analysis(
            one,
            config,
            by_path[one.path],
            view.good.get(one.uri),
            is_broken=one.path in troubled and not _parses(one),
            looked=run.looked,
        )
        for one in view.documents
        if one.path in by_path
    }


def _parses(document: Document) -> bool:
    """False for a text that is no Python; true where only part of it could not be followed."""
    try:
        parse(SourceFile.from_text(document.path, document.text))
    except SourceError:
        return False
    return True


def _analysis(
    document: Document,
    config: Config,
    results: list[Result],
    good: Analysis | None,
    *,
    is_broken: bool,
    looked: Looked,
) -> Analysis:
    file = SourceFile.from_text(document.path, document.text)
    if is_broken and good is not None:
        results = [*results, *outside(good, file)]
    reported = report_ids(document.version, results)
    return Analysis(document, file, config, reported, is_broken, looked)
