"""Start the user's command with the recorder in every Python process of it, and wait for it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType

from tclint.errors import UserError
from tclint.records import record

SITE = Path(__file__).parents[1] / "recorder" / "site"
"""Goes first on the path of every Python process: its ``sitecustomize`` starts the recorder."""
_FATAL = 128
_GRACE = 10
"""Seconds that a command has to end when it is told to."""


@record(frozen=True)
class Settings:
    """What to record.

    ``steps`` ends the command after so many (0: never). ``window`` are the numbers of steps for
    host syncs, samples of the host, and the profiler. ``overlay`` is a file of texts that take the
    place of files'. ``seed`` is given to torch and ``random`` as soon as they are there. Models
    that are called are compiled where ``compile`` is ``model``, ``graphs`` (with CUDA graphs), or
    ``blocks``, each with ``+loss`` for their losses. ``more`` are further variables. The command
    is ended after so many ``seconds`` (0: never).
    """

    steps: int = 0
    warm_up: int = 10
    window: tuple[int, int, int] = (3, 20, 3)
    losses: int = 100
    marker: str = ""
    overlay: Path | None = None
    seed: int | None = None
    compile: str = ""
    more: tuple[tuple[str, str], ...] = ()
    seconds: float = 0

    def environment(self, folder: Path) -> dict[str, str]:
        """The variables by which the recorder is told."""
        told = {
            "TCLINT_RECORD": str(folder.resolve()),
            "TCLINT_RECORD_STEPS": str(self.steps),
            "TCLINT_RECORD_WARM_UP": str(self.warm_up),
            "TCLINT_RECORD_WINDOW": ",".join(map(str, self.window)),
            "TCLINT_RECORD_LOSSES": str(self.losses),
        }
        if self.seed is not None:
            told["TCLINT_RECORD_SEED"] = str(self.seed)
        if self.marker:
            told["TCLINT_RECORD_MARKER"] = self.marker
        if self.overlay is not None:
            told["TCLINT_RECORD_OVERLAY"] = str(self.overlay.resolve())
        if self.compile:
            told["TCLINT_RECORD_COMPILE"] = self.compile
        return told | dict(self.more)


@record(frozen=True)
class Ended:
    """How the command ended: its exit status as a shell gives it, and the seconds it ran."""

    status: int
    seconds: float


def launch(
    command: Sequence[str], folder: Path, settings: Settings, output: Path | None = None
) -> Ended:
    """Run the command; what signals tclint gets, it gets.

    It has tclint's own standard streams, unless a file is named for its ``output``.

    Raises:
        UserError: there is no such command, or it cannot be run.
    """
    program = shutil.which(command[0])
    if program is None:
        raise UserError(f"{command[0]}: {_why_not(command[0])}")
    environment = _environment(os.environ, settings.environment(folder))
    start = time.monotonic()
    with ExitStack() as stack:
        stream = stack.enter_context(output.open("wb")) if output is not None else None
        try:
            process = subprocess.Popen(
                [program, *command[1:]], env=environment, stdout=stream, stderr=stream
            )
        except OSError as error:
            raise UserError(f"{command[0]}: cannot be run: {error.strerror}") from error
        stack.enter_context(_passed_on(process))
        status = _wait(process, settings.seconds or None)
    status = _FATAL - status if status < 0 else status
    return Ended(status, time.monotonic() - start)


def _why_not(name: str) -> str:
    """Why there is no such command."""
    path = Path(name)
    if path.is_dir():
        return "a folder, not a command"
    if path.suffix == ".py" and path.is_file():
        return f"not a command by itself; write `python {path}` after `--`"
    if os.path.dirname(name) and path.is_file():  # noqa: PTH120
        return "may not be executed"
    return "no such command; after `--` write it as in a shell"


def _environment(ours: Mapping[str, str], told: Mapping[str, str]) -> dict[str, str]:
    kept = {key: value for key, value in ours.items() if not key.startswith("TCLINT_RECORD")}
    path = ours.get("PYTHONPATH")
    return {**kept, **told, "PYTHONPATH": os.pathsep.join([str(SITE), *([path] if path else [])])}


@contextmanager
def _passed_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Ctrl-C reaches the command by the terminal; a polite kill is passed on to it."""

    def pass_on(number: int, frame: FrameType | None) -> None:
        del frame
        with suppress(ProcessLookupError):
            process.send_signal(number)

    def wait_for_it(number: int, frame: FrameType | None) -> None:
        del number, frame

    old = {
        signal.SIGTERM: signal.signal(signal.SIGTERM, pass_on),
        signal.SIGINT: signal.signal(signal.SIGINT, wait_for_it),
    }
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _wait(process: subprocess.Popen[bytes], limit: float | None) -> int:
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
        return process.poll() or -signal.SIGKILL
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
