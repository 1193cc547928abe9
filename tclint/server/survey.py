"""All files of a folder, part by part: a part is examined anew when a file that it read changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tclint.config import Config
from tclint.files import Version, version_of
from tclint.lint.engine import Result, assembled
from tclint.lint.examine import Examiner
from tclint.lint.execution import Program
from tclint.lint.outcome import Outcome
from tclint.lint.shards import Shard, shards
from tclint.server.document import Analysis, Document, report_ids
from tclint.source.discovery import discover
from tclint.source.file import SourceFile

State = str | Version | None


class Surveys:
    """What was found in folders, until something changes."""

    def __init__(self) -> None:
        self._known: dict[tuple[Config, Shard, Shard], tuple[dict[str, State], Outcome]] = {}

    def of(self, folder: Path, config: Config, texts: Mapping[Path, str]) -> Survey:
        """Begin to look through a folder."""
        files = discover([folder], config).files
        return Survey(files, config, dict(texts), self._known)


class Survey:
    """One look through a folder."""

    def __init__(
        self,
        files: Sequence[Path],
        config: Config,
        texts: dict[Path, str],
        known: dict[tuple[Config, Shard, Shard], tuple[dict[str, State], Outcome]],
    ) -> None:
        self.files = tuple(files)
        self._config = config
        self._program = Program(self.files, config, texts)
        self._by_name = {str(path): text for path, text in texts.items()}
        self._known = known
        self._examiner: Examiner | None = None
        self._outcomes: list[tuple[Shard, Outcome]] = []

    def examine(self, part: Shard) -> None:
        """Examine a part, unless all that it rests on is as it was."""
        key = self._config, part, self.files
        states, outcome = self._known.get(key, ({}, None))
        if outcome is None or any(self._state(name) != s for name, s in states.items()):
            if self._examiner is None:
                self._examiner = Examiner(self._program)
            outcome = self._examiner.examine(part)
            for old in [old for old in self._known if old[0] == key[0] and old[2] != key[2]]:
                del self._known[old]
            self._known[key] = {name: self._state(name) for name in outcome.read}, outcome
        self._outcomes.append((part, outcome))

    def analyses(self) -> list[Analysis]:
        """What was found, by file; files without findings are there as well."""
        run = assembled(self._program, self._outcomes, {})
        by_path: dict[Path, list[Result]] = {}
        for result in run.results:
            by_path.setdefault(result.diagnostic.path, []).append(result)
        found = []
        for path in self.files:
            results = by_path.get(path, [])
            document = Document(path.absolute().as_uri(), path, 0, "")
            file = results[0].file if results else SourceFile.from_text(path, "")
            found.append(Analysis(document, file, self._config, report_ids(0, results)))
        return found

    def _state(self, name: str) -> State:
        text = self._by_name.get(name)
        return version_of(name) if text is None else text


def parts_of(survey: Survey) -> Iterator[Shard]:
    """The parts of a folder that are examined one after the other."""
    yield from shards(survey.files)
