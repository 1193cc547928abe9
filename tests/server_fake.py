"""A fake engine for the language server's tests: it reports every ``BAD`` in a document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tclint.config import Config
from tclint.diagnostics import (
    Applicability,
    ChainLink,
    Change,
    Confidence,
    Decline,
    Diagnostic,
    Edit,
    Effect,
    Fix,
    Position,
    Span,
)
from tclint.lint.engine import Result, Run
from tclint.semantics.explain import Explained
from tclint.server.analyze import View, analyze
from tclint.server.document import Analysis, Document
from tclint.server.engine import Engine, Texts
from tclint.server.settings import Settings
from tclint.source.errors import FileError
from tclint.source.file import SourceFile

APPLICABILITIES = {
    "BAD": Applicability.SAFE,
    "WILD": Applicability.UNSAFE,
    "SHOWN": Applicability.DISPLAY,
    "SAD": None,
}


@dataclass
class FakeEngine(Engine):
    """Says something of ``BAD`` (safe fix: ``GOOD``), ``WILD`` (unsafe), ``SHOWN`` and ``SAD``."""

    overlays: list[dict[Path, str]] = field(default_factory=list)
    error: Exception | None = None
    excluded: bool = False
    forgotten: int = 0

    def config(self, path: Path, folder: Path | None, settings: Settings) -> Config:
        return Config(root=folder or path.parent)

    def excludes(self, path: Path, config: Config) -> bool:
        return self.excluded

    def around(
        self, path: Path, opened: Sequence[Path], config: Config, folder: Path | None, texts: Texts
    ) -> tuple[Path, ...]:
        return tuple(opened)

    def check(self, paths: Sequence[Path], config: Config, texts: Texts) -> Any:
        self.overlays.append(dict(texts))
        if self.error is not None:
            raise self.error
        results = [result for path in paths for result in _results(path, texts[path])]
        errors = (FileError(path, "broken") for path in paths if "BROKEN" in texts[path])
        return Run(tuple(results), tuple(errors), len(paths))

    def fix(self, result: Any) -> Fix | Decline | None:
        if result.diagnostic.code == "TCL904":
            return Decline("it is too sad")
        edit = Edit(result.diagnostic.span, "GOOD")
        return Fix("Be good", Applicability.SAFE, Change.SAME_BITS, (edit,))

    def fix_all(
        self, path: Path, paths: Sequence[Path], config: Config, texts: Texts, code: str
    ) -> str | None:
        after = texts[path].replace("BAD", "GOOD")
        return None if after == texts[path] else after

    def explain(
        self, path: Path, paths: Sequence[Path], config: Config, texts: Texts, at: tuple[int, int]
    ) -> Sequence[Explained]:
        return ()

    def summary(self, code: str) -> str | None:
        return "Bad words are bad." if code == "TCL901" else None

    def page(self, code: str) -> str | None:
        return "# bad-word (TCL901)" if code == "TCL901" else None

    def forget(self) -> None:
        self.forgotten += 1


def _results(path: Path, text: str) -> Iterator[Result]:
    file = SourceFile.from_text(path, text)
    for row, line in enumerate(file.lines, 1):
        for match in re.finditer("|".join(APPLICABILITIES), line):
            span = Span(Position(row, match.start() + 1), Position(row, match.end() + 1))
            yield Result(_diagnostic(path, match[0], span), None, file)


def _diagnostic(path: Path, word: str, span: Span) -> Diagnostic:
    return Diagnostic(
        code=f"TCL90{1 + list(APPLICABILITIES).index(word)}",
        name="bad-word",
        message=f"`{word}` is bad",
        effect=Effect.GRAPH_BREAK,
        confidence=Confidence.HIGH,
        path=path,
        span=span,
        gb_ids=("GB0059",),
        chain=(
            ChainLink("Net.forward", path.name, 90),
            ChainLink("helper", "other.py", 7),
            ChainLink("here", str(path), span.start.row),
        ),
        fixable=APPLICABILITIES[word],
        fix_message="Be good" if APPLICABILITIES[word] else None,
        declined=Decline("it is too sad") if word == "SAD" else None,
        url="https://example.org/TCL901",
        instead="Be good",
    )


def analysis_of(text: str, path: Path, version: int = 1, engine: Engine | None = None) -> Analysis:
    """What the fake engine says of a text."""
    document = Document(path.as_uri(), path, version, text)
    return analyze(engine or FakeEngine(), document, View((document,)))[document.uri]
