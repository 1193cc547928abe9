"""Runs the engine on one document, with the other open documents around it."""

from __future__ import annotations

from collections.abc import Iterable

from tclint.server.document import Analysis, Document, report_ids
from tclint.server.engine import Engine, around
from tclint.source.file import SourceFile


def analyze(engine: Engine, document: Document, opened: Iterable[Document]) -> Analysis:
    """Check a document as the editor shows it; runs on a worker thread.

    Files that a run over the project would leave out, such as an installed library that somebody
    looks into, have no findings here either.
    """
    config = engine.config(document.path)
    file = SourceFile.from_text(document.path, document.text)
    if document.path.exists() and engine.excludes(document.path, config):
        return Analysis(document, file, config, ())
    overlay = {other.path: other.text for other in opened}
    overlay[document.path] = document.text
    run = engine.check(around(document.path, config, overlay), config, overlay)
    results = [r for r in run.results if r.diagnostic.path == document.path]
    return Analysis(document, file, config, report_ids(document.version, results))
