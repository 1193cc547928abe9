"""What goes wrong with a file before it can be analysed."""

from __future__ import annotations

from pathlib import Path

from tclint.diagnostics import Span
from tclint.records import record


@record(frozen=True)
class FileError:
    """A path that could not be read, decoded, parsed or written, and why."""

    path: Path
    message: str
    span: Span | None = None

    def __str__(self) -> str:
        if self.span is None:
            return f"{self.path}: {self.message}"
        start = self.span.start
        return f"{self.path}:{start.row}:{start.column}: {self.message}"


class SourceError(Exception):
    """Raised where one file stops its own analysis; the run goes on with the other files."""

    def __init__(self, path: Path, message: str, span: Span | None = None) -> None:
        super().__init__(path, message, span)
        self.error = FileError(path, message, span)

    def __str__(self) -> str:
        return str(self.error)

    @property
    def path(self) -> Path:
        """The file concerned."""
        return self.error.path

    @property
    def message(self) -> str:
        """What is wrong, without the place."""
        return self.error.message

    @property
    def span(self) -> Span | None:
        """Where it is wrong, when that is known."""
        return self.error.span


def reason(error: OSError) -> str:
    """What the operating system says, without its number and the path: ``permission denied``."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]
