"""Files with findings that were worked out earlier: read again when somebody asks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import takewhile
from pathlib import Path

from tclint.files import Version, version_of
from tclint.source.decode import read_source
from tclint.source.errors import SourceError
from tclint.source.file import NEARBY, SourceFile

Excerpts = list[tuple[int, str]]
"""Lines of a file with their rows."""


class StoredFile(SourceFile):
    """A file that is read when more of its text is asked for than the lines of its findings.

    If it has been written since it was checked, its findings lie elsewhere: then it has no other
    text.
    """

    def __init__(
        self, path: Path, version: Version | None, excerpts: Sequence[Excerpts] = ()
    ) -> None:
        """``version`` is the one that was checked; None when there was none."""
        super().__init__(path, "")
        self._version = version
        self._excerpts = excerpts

    @property
    def text(self) -> str:
        """The decoded text."""
        return self._file.text

    @property
    def encoding(self) -> str:
        """The codec of the bytes."""
        return self._file.encoding

    def line(self, row: int) -> str:
        """A line with its end."""
        known = self._known.get(row)
        return super().line(row) if known is None else known

    def nearby(self, row: int) -> dict[int, str]:
        """A line and its neighbours, by row."""
        known = self._known
        if row not in known:
            return super().nearby(row)
        # Without a gap: whoever shows them goes from the first to the last.
        above = takewhile(known.__contains__, range(row, row - NEARBY - 1, -1))
        below = takewhile(known.__contains__, range(row + 1, row + NEARBY + 1))
        return {number: known[number] for number in sorted((*above, *below))}

    @cached_property
    def _known(self) -> dict[int, str]:
        return {row: line for lines in self._excerpts for row, line in lines}

    @cached_property
    def _file(self) -> SourceFile:
        if self._version is not None and version_of(self.path) == self._version:
            try:
                return read_source(self.path)
            except SourceError:
                pass  # what was readable before is so no more
        return SourceFile.from_text(self.path, "")
