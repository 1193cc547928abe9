"""Looking at files again after some were fixed: what did not change is not looked at again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclint.lint.engine import IN_PROCESS, assembled, examined
from tclint.lint.shards import shards

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tclint.config import Config
    from tclint.lint.engine import Run
    from tclint.lint.outcome import Outcome
    from tclint.lint.shards import Shard
    from tclint.source.file import SourceFile


class Recheck:
    """The lint engine for one run of fixing: the files, and what is on disk, stay the same.

    A shard's outcome holds until a file is fixed that it rests on.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._outcomes: dict[Shard, Outcome] = {}
        self._texts: dict[Path, str] = {}

    def __call__(
        self, paths: Sequence[Path], config: Config, overlay: Mapping[Path, str] | None
    ) -> Run:
        """Check the files as one program; ``overlay`` holds the texts of those fixed so far."""
        texts = dict(overlay or {})
        changed = {str(path) for path, text in texts.items() if self._texts.get(path) != text}
        self._texts = texts
        program, parts = (paths, config, texts), [*shards(paths)]
        stale = [part for part in parts if self._is_stale(part, changed)]
        files: dict[str, SourceFile] = {}
        if stale:
            fresh, files = examined(program, stale, IN_PROCESS)
            self._outcomes.update(zip(stale, fresh, strict=True))
        return assembled(program, [(part, self._outcomes[part]) for part in parts], files)

    def _is_stale(self, part: Shard, changed: set[str]) -> bool:
        known = self._outcomes.get(part)
        return known is None or not known.lasting or not changed.isdisjoint(known.read)
