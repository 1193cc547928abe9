"""One child process: started apart, asked in JSON lines, killed with all that it started."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import Any, TypeVar

from tclint.children import PACKAGE_PARENT, worker_command
from tclint.verify.answers import Done
from tclint.verify.descendants import end_descendants
from tclint.verify.keeper import End, read_note
from tclint.verify.results import Failure
from tclint.verify.wire import CLOSED, WireError, rebuild, shortened

WORKER = "tclint.verify.worker"
"""The module that is the worker for one arm."""
_WORKER = worker_command(WORKER)
_CHUNK = 8192
_TAIL = 65536
_LONGEST_LINE = 64 * 1024 * 1024
_LINES_KEPT = 2
_LONGEST_WORDS = 500
_POLL_SECONDS = 0.1
_LAST_WORDS_SECONDS = 1.0
_LEFT = "what it started may still run"
_KILLED_WORDS = "was killed (SIGKILL)"
_UNWATCHED = "the process that watches over it was ended by"
# Would turn compilation off, or make torch write logs of its own.
_DROPPED = ("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE", "TORCH_LOGS")
# NCCL's watchdog says so on its way to abort().
_NCCL_GAVE_UP = re.compile(r"OpType=(\w+).*?ran for (\d+) milliseconds before timing out", re.S)
_DUMPED_FRAME = re.compile(r'File "(.+?)", line (\d+)')
_KILLED = -9
_FAULTS = ("SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV", "SIGSYS", "SIGTRAP")

Answer = TypeVar("Answer")
Hear = Callable[[Any], None]


class ChildError(Exception):
    """The child could not answer; ``failure`` says why.

    ``so_far`` is the record of the last that it told while it was at it.
    """

    def __init__(self, failure: Failure, so_far: Any = None) -> None:
        """Carry the failure."""
        super().__init__(failure.message)
        self.failure = failure
        self.so_far = so_far


class Child:
    """A worker with its own compile caches and a deadline for all that it does.

    What it says is not believed: user code lives in the same process and may write what it likes.
    Each request carries a word that its answer has to repeat, and an answer that is not of the
    type asked for is a failure.
    """

    def __init__(
        self,
        cache: Path,
        device: str | None,
        time_limit: float,
        more: Mapping[str, str] | None = None,
        stated_limit: float | None = None,
        worker: tuple[str, ...] = (),
    ) -> None:
        """Start the worker; ``cache`` is a folder for compiled code.

        ``more`` goes into the environment.
        ``stated_limit`` is what people call the limit, where others have used up part of it.
        ``worker`` is another command than that of the worker for one arm, or another Python's.
        """
        self._limit, self._stated = time_limit, stated_limit
        self._started = time.monotonic()
        self._deadline = self._started + time_limit
        self._note, told = os.pipe()
        watched = sys.platform == "linux"
        self._process = subprocess.Popen(
            [*(worker or _WORKER), *([str(told)] if watched else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=PACKAGE_PARENT,
            env=_environment(cache, device) | dict(more or {}),
            start_new_session=True,
            pass_fds=(told,) if watched else (),
        )
        os.close(told)
        self._lines: queue.Queue[bytes] = queue.Queue(_LINES_KEPT)
        self._tail = bytearray()
        self._so_far: Any = None
        self._ended = self._hung_up = False
        self._pump(self._read_answers)
        self._errors = self._pump(self._read_errors)

    def __enter__(self) -> Child:
        """Use as a context manager: the child ends with the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the child."""
        self.kill()

    def ask(
        self,
        op: str,
        kind: type[Answer],
        hear: Hear | None = None,
        meanwhile: type[Any] | None = None,
        **request: Any,
    ) -> Answer:
        """Send a request and wait for its answer, a record of the type ``kind``.

        ``hear`` is told what the child says before it is done, records of the type ``meanwhile``.

        Raises:
            ChildError: there is no such answer.
        """
        stdin = self._process.stdin
        assert stdin is not None
        word = token_hex(8)
        self._so_far = None
        try:
            stdin.write(json.dumps({"op": op, "word": word, **request}).encode() + b"\n")
            stdin.flush()
        except BrokenPipeError:
            raise ChildError(self._death()) from None
        try:
            while True:
                said = _read(self._line(), word)
                if "failure" in said:
                    raise ChildError(rebuild(Failure, said["failure"]), self._so_far)
                if "ok" in said:
                    return rebuild(kind, said["ok"])
                self._so_far = rebuild(meanwhile or Done, said.get("so_far"))
                if hear is not None:
                    hear(self._so_far)
        except WireError as error:
            self.kill()
            message = f"gave an answer that cannot be read: {error}"
            raise ChildError(Failure("answer", message), self._so_far) from None

    def hurry(self, seconds: float) -> None:
        """Leave the child no more than so much time from now on."""
        self._deadline = min(self._deadline, time.monotonic() + seconds)

    def kill(self) -> None:
        """Kill the child and everything that it started."""
        self._ended = True
        if sys.platform == "win32":
            self._process.kill()
        elif self._process.returncode is None:
            if sys.platform == "linux" and end_descendants(self._process.pid):
                # Its keeper collects it, which only an init does otherwise, and then has no work.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(_LAST_WORDS_SECONDS)
            if self._process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._note >= 0:
            os.close(self._note)
            self._note = -1

    def _line(self) -> bytes:
        while True:
            with contextlib.suppress(queue.Empty):
                if line := self._lines.get(timeout=_POLL_SECONDS):
                    return line
                self._hung_up = True
            if self._process.poll() is not None:
                return self._last_line()
            if time.monotonic() > self._deadline:
                self.kill()
                taken = time.monotonic() - self._started
                limit = self._stated or min(self._limit, taken)
                message = f"took longer than the time limit of {limit:.3g} s"
                raise ChildError(Failure("timeout", message), self._so_far)

    def _last_line(self) -> bytes:
        line = b""
        if not self._hung_up:
            with contextlib.suppress(queue.Empty):
                line = self._lines.get(timeout=_LAST_WORDS_SECONDS)
        if line:
            return line
        self._hung_up = True
        raise ChildError(self._death(), self._so_far)

    def _death(self) -> Failure:
        status = self._process.wait()
        self._errors.join(_LAST_WORDS_SECONDS)
        end = self._end(status)
        stuck = _NCCL_GAVE_UP.search(self._last_words())
        if stuck:
            waited = f"{int(stuck[2]) / 1e3:.3g} s"
            message = f"NCCL gave up on {stuck[1]} after {waited}: not every rank reached it"
            return Failure("timeout", message)
        if end is None:
            message = f"{_UNWATCHED} {_name(status)}; {_LEFT}"
            return Failure("crash", message)
        if end.status == _KILLED:
            return killed(end)
        if end.status < 0:
            return Failure("crash", self._crash(_name(end.status)))
        if CLOSED in self._last_words():
            return Failure("answer", CLOSED)
        message = f"ended with status {end.status} before it answered, as after os._exit()"
        return Failure("exit", f"{message}{self._complaint()}")

    def _end(self, status: int) -> End | None:
        if sys.platform != "linux" or self._note < 0:  # another thread has killed it
            return End(status, None)
        note, self._note = self._note, -1
        return read_note(note, status)

    def _crash(self, name: str) -> str:
        if name not in _FAULTS:
            return f"was ended by {name}, by itself or from outside"
        return f"crashed with {name}{self._last_place()}"

    def _complaint(self) -> str:
        words = shortened(" ".join(self._last_words().splitlines()[-3:]), _LONGEST_WORDS)
        return f"; the last on its standard error: {words}" if words else ""

    def _last_place(self) -> str:
        for file, row in _DUMPED_FRAME.findall(self._last_words()):
            if not file.startswith((sys.prefix, sys.base_prefix, str(PACKAGE_PARENT / "tclint"))):
                return f" at {file}:{row}"
        return ""

    def _last_words(self) -> str:
        return self._tail.decode("utf-8", "replace").strip()

    def _read_answers(self) -> None:
        stdout: Any = self._process.stdout
        line = b"\n"
        while line:
            line = stdout.readline(_LONGEST_LINE)
            while not self._ended:
                # Few lines are held: user code may write there without end.
                with contextlib.suppress(queue.Full):
                    self._lines.put(line, timeout=_POLL_SECONDS)
                    break

    def _read_errors(self) -> None:
        # Only the end is kept: user code may write without limit, and without line ends.
        stderr: Any = self._process.stderr
        while chunk := stderr.read1(_CHUNK):
            self._tail += chunk
            del self._tail[:-_TAIL]

    @staticmethod
    def _pump(read: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        return thread


def _read(line: bytes, word: str) -> dict[str, Any]:
    """What the worker wrote in answer to the request with that word."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or said.get("to") != word:
        shown = shortened(line[:_LONGEST_WORDS].decode("utf-8", "replace").strip(), 100)
        raise WireError(f"user code wrote where answers go: {shown!r}")
    return said


def killed(end: End) -> Failure:
    """What to say of a worker that SIGKILL ended."""
    if end.memory_ran_out:
        return Failure("out-of-memory", "was killed by the system, since memory ran out")
    if end.memory_ran_out is None:
        return Failure("out-of-memory", "was killed (SIGKILL): perhaps memory ran out")
    return Failure(
        "crash",
        f"{_KILLED_WORDS}, by itself or from outside: the system killed nothing here to get "
        "memory back",
    )


def was_killed(failure: Failure) -> bool:
    """Whether somebody else may have ended the child, so that another try may end otherwise."""
    return failure.kind == "crash" and failure.message.startswith((_KILLED_WORDS, _UNWATCHED))


def _name(status: int) -> str:
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def _environment(cache: Path, device: str | None) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in _DROPPED}
    kept["TORCHINDUCTOR_CACHE_DIR"] = str(cache)
    kept["TRITON_CACHE_DIR"] = str(cache / "triton")
    if "TORCH_TRACE" in kept:
        # The child works in another folder.
        kept["TORCH_TRACE"] = str(Path(kept["TORCH_TRACE"]).absolute())
    kept["PYTHONHASHSEED"] = "0"
    if device == "cpu":
        kept["CUDA_VISIBLE_DEVICES"] = ""
    return kept
