"""``tclint.recording``: what ``tclint run`` records of a command, of a block of the own process."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from tclint.config import load_config
from tclint.errors import UserError
from tclint.recorder.site.tclint_recorder.imports import AfterImport
from tclint.recorder.site.tclint_recorder.recording import Recording
from tclint.run.launch import Settings
from tclint.run.read import Source, read_folder
from tclint.run.report.rendered import rendered
from tclint.run.session import Answer, answer
from tclint.scratch import scratch

if TYPE_CHECKING:
    from typing import Literal

    Format = Literal["text", "json", "markdown", "html"]

_SUFFIXES: dict[str, Format] = {".json": "json", ".md": "markdown", ".html": "html"}
_BEGINS = "tclint_recorder.start"
"""The module that begins to record a command of ``tclint run``; others of it tell nothing."""
_ALREADY = "`tclint run` is already recording this process; its report includes this block"


class Block:
    """A block of code that is recorded, or was: the answer is there when it has ended."""

    def __init__(self) -> None:
        """Begin without an answer."""
        self._answer: Answer | UserError = UserError("the block that is recorded still runs")

    @property
    def answer(self) -> Answer:
        """What ``tclint run`` tells of a command: its lines, their prices, breaks and findings.

        Raises:
            UserError: the block still runs, or the configuration cannot be read.
        """
        if isinstance(self._answer, UserError):
            raise self._answer
        return self._answer

    def report(self, output_format: Format = "text") -> str:
        """The report in one of the formats of ``tclint run``."""
        return rendered(self.answer, output_format)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file, as its name says: ``.html``, ``.md``, ``.json``, or text."""
        file = Path(path)
        file.write_text(self.report(_SUFFIXES.get(file.suffix, "text")), encoding="utf-8")

    def ended(self, told: Answer | UserError) -> None:
        """Take the answer."""
        self._answer = told


@contextmanager
def recording(
    *, warm_up: int = 10, window: tuple[int, int, int] = (3, 20, 3), losses: int = 100
) -> Iterator[Block]:
    """Record the block, as ``tclint run`` does with a command.

    What the block computes, raises and prints stays the same. Code that was compiled before the
    block is not compiled again, so that nothing is told of its breaks.

    Args:
        warm_up: the first steps, which do not count.
        window: for how many steps each the waits for the GPU, the host and the kernels are watched.
        losses: of how many steps the loss is kept.

    Raises:
        UserError: a block is being recorded already.
    """
    settings = Settings(warm_up=warm_up, window=window, losses=losses)
    with recorded(settings) as block:
        yield block


@contextmanager
def recorded(settings: Settings, also: Callable[[], Collection[str]] = tuple) -> Iterator[Block]:
    """Record the block; ``also`` are texts to tell the findings of whether or not they ran."""
    block = Block()
    with scratch("recording") as folder:
        process = None if _is_recorded() else _Process(folder, settings)
        how = "the block's end"
        try:
            yield block
        except BaseException as error:
            how = f"{type(error).__name__}: {error}"[:2000]
            raise
        finally:
            if process is not None:
                process.end(how)
            block.ended(_answer(folder, also(), already=process is None))


def _is_recorded() -> bool:
    """True in a command that ``tclint run`` records."""
    start = sys.modules.get(_BEGINS)
    return start is not None and bool(start.recordings)


class _Process:
    """This process while it is recorded."""

    current: Recording | None = None
    hears_of_forks = False

    def __init__(self, folder: Path, settings: Settings) -> None:
        if _Process.current is not None:
            raise UserError("a block is being recorded already: recordings cannot be nested")
        self._told = settings.environment(folder)
        self._recording = _Process.current = Recording(str(folder))
        if not _Process.hears_of_forks:
            _Process.hears_of_forks = True
            os.register_at_fork(after_in_child=_forked)
        attach = self._recording.lines.guarded("torch", self._attach)
        self._hook = AfterImport({"torch": attach})
        if "torch" in sys.modules:
            attach(sys.modules["torch"])
        else:
            sys.meta_path.insert(0, self._hook)

    def _attach(self, torch: ModuleType) -> None:
        from tclint.recorder.site.tclint_recorder.with_torch import attach

        self._recording.has_torch(torch)
        attach(torch, self._recording, self._told)

    def end(self, how: str) -> None:
        """Record no more."""
        if self._hook in sys.meta_path:
            sys.meta_path.remove(self._hook)
        self._recording.lines.guarded("end", self._recording.end)(how)
        self._recording.lines.guarded("end", self._recording.release)()
        _Process.current = None


def _forked() -> None:
    if _Process.current is not None:
        _Process.current.forked()


def _answer(folder: Path, also: Collection[str], *, already: bool) -> Answer | UserError:
    try:
        config = load_config(Path.cwd())
        found = replace(read_folder(folder), source=Source.BLOCK)
        told = answer((), None, found, folder, config, also)
    except UserError as error:
        return error
    except OSError as error:
        return UserError(f"the recording cannot be read: {error}")
    return replace(told, notes=(_ALREADY,)) if already else told
