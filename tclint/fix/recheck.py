"""Looking at files again after some were fixed: what did not change is not looked at again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tclint.lint.engine import assembled, program_of
from tclint.lint.examined import examined
from tclint.lint.execution import IN_PROCESS, Around, Execution, Program
from tclint.lint.shards import shards
from tclint.records import record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tclint.config import Config
    from tclint.lint.engine import Run
    from tclint.lint.outcome import Outcome
    from tclint.lint.shards import Shard
    from tclint.source.file import SourceFile


@record(frozen=True)
class _Seen:
    """An outcome, and the texts that stood in for files when it was worked out, by path."""

    texts: Mapping[str, str]
    outcome: Outcome

    def holds_for(self, texts: Mapping[str, str]) -> bool:
        """Whether the shard would come to the same with these texts."""
        same = all(self.texts.get(name) == texts.get(name) for name in self.outcome.read)
        return same and self.outcome.lasting


class Recheck:
    """The lint engine for one run of fixing: the files, and what is on disk, stay the same.

    A shard's outcome, with the weak findings or without, holds until a file is fixed that it rests
    on, and again when fixing starts anew without a fix that was of no use.
    """

    def __init__(self, execution: Execution = IN_PROCESS) -> None:
        """Nothing is known yet."""
        self._execution = replace(execution, goes_on=True)
        self._seen: dict[tuple[Shard, bool], list[_Seen]] = {}
        self._around: Around | None = None

    def __call__(
        self, paths: Sequence[Path], config: Config, overlay: Mapping[Path, str] | None
    ) -> Run:
        """Check the files as one program; ``overlay`` holds the texts of those fixed so far."""
        if self._around is None:
            self._around = program_of(paths, config, overlay).around
        program, parts = Program(paths, config, dict(overlay or {}), self._around), [*shards(paths)]
        texts = {str(path): text for path, text in program.overlay.items()}
        known = {part: self._recall((part, config.weak), texts) for part in parts}
        stale = [part for part, outcome in known.items() if outcome is None]
        files: dict[str, SourceFile] = {}
        if stale:
            fresh, files = examined(program, stale, self._execution)
            for part, outcome in zip(stale, fresh, strict=True):
                known[part] = outcome
                # The first look and the latest: fixing starts anew from the one, and goes on
                # from the other.
                first = self._seen.get((part, config.weak), [])[:1]
                self._seen[part, config.weak] = [*first, _Seen(texts, outcome)]
        told = [(part, outcome) for part, outcome in known.items() if outcome is not None]
        return assembled(program, told, files)

    def _recall(self, part: tuple[Shard, bool], texts: Mapping[str, str]) -> Outcome | None:
        seen = self._seen.get(part, ())
        return next((one.outcome for one in seen if one.holds_for(texts)), None)
