"""One child process: started apart, asked in JSON lines, killed with all its children."""

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
from types import TracebackType
from typing import Any

from tclint.verify.results import Failure

_PACKAGE_PARENT = Path(__file__).parents[2]
_CHUNK = 8192
_TAIL = 65536
_POLL_SECONDS = 0.1
_LAST_WORDS_SECONDS = 1.0
# Would turn compilation off, or make torch write logs of its own.
_DROPPED = ("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE", "TORCH_LOGS", "TORCH_TRACE")
# NCCL's watchdog says so on its way to abort().
_NCCL_GAVE_UP = re.compile(r"OpType=(\w+).*?ran for (\d+) milliseconds before timing out", re.S)
_DUMPED_FRAME = re.compile(r'File "(.+?)", line (\d+)')

Hear = Callable[[dict[str, Any]], None]


class ChildError(Exception):
    """The child could not answer; ``failure`` says why.

    ``so_far`` is the last of what it told while it was at it, in the form of an answer.
    """

    def __init__(self, failure: Failure, so_far: dict[str, Any] | None = None) -> None:
        """Carry the failure."""
        super().__init__(failure.message)
        self.failure = failure
        self.so_far = so_far


class Child:
    """A worker with its own compile caches and a deadline for all that it does."""

    def __init__(
        self,
        cache: Path,
        device: str | None,
        time_limit: float,
        trace: Path | None = None,
        more: Mapping[str, str] | None = None,
        stated_limit: float | None = None,
    ) -> None:
        """Start the worker; ``cache`` is a folder for compiled code.

        ``trace`` is a folder for torch's structured log, ``more`` goes into the environment.
        ``stated_limit`` is what people call the limit, where others have used up part of it.
        """
        self._limit, self._stated = time_limit, stated_limit
        self._started = time.monotonic()
        self._deadline = self._started + time_limit
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tclint.verify.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=_PACKAGE_PARENT,
            env=_environment(cache, device, trace) | dict(more or {}),
            start_new_session=True,
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._tail = bytearray()
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

    def ask(self, op: str, hear: Hear | None = None, **request: Any) -> dict[str, Any]:
        """Send a request and wait for its answer; raises ChildError.

        ``hear`` is told what the child says before it is done.
        """
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(json.dumps({"op": op, **request}).encode() + b"\n")
            stdin.flush()
        except BrokenPipeError:
            raise ChildError(self._death()) from None
        answer = self._answer(hear)
        if "failure" in answer:
            raise ChildError(Failure(**answer["failure"]), self._so_far)
        result: dict[str, Any] = answer["ok"]
        return result

    def hurry(self, seconds: float) -> None:
        """Leave the child no more than so much time from now on."""
        self._deadline = min(self._deadline, time.monotonic() + seconds)

    def kill(self) -> None:
        """Kill the child and everything that it started."""
        if sys.platform == "win32":
            self._process.kill()
        else:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _answer(self, hear: Hear | None) -> dict[str, Any]:
        self._so_far: dict[str, Any] | None = None
        try:
            while True:
                answer: dict[str, Any] = json.loads(self._line())
                if "so_far" not in answer:
                    return answer
                self._so_far = answer["so_far"]
                if hear is not None:
                    hear(answer["so_far"])
        except ChildError as failed:
            raise ChildError(failed.failure, self._so_far) from None

    def _line(self) -> bytes:
        while True:
            try:
                return self._lines.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                pass
            if self._process.poll() is not None:
                return self._last_line()
            if time.monotonic() > self._deadline:
                self.kill()
                taken = time.monotonic() - self._started
                limit = self._stated or min(self._limit, taken)
                message = f"took longer than the time limit of {limit:.3g} s"
                raise ChildError(Failure("timeout", message))

    def _last_line(self) -> bytes:
        try:
            return self._lines.get(timeout=_LAST_WORDS_SECONDS)
        except queue.Empty:
            raise ChildError(self._death()) from None

    def _death(self) -> Failure:
        status = self._process.wait()
        self._errors.join(_LAST_WORDS_SECONDS)
        stuck = _NCCL_GAVE_UP.search(self._last_words())
        if stuck:
            waited = f"{int(stuck[2]) / 1e3:.3g} s"
            message = f"NCCL gave up on {stuck[1]} after {waited}: not every rank came to it"
            return Failure("timeout", message)
        if status == -signal.SIGKILL:
            return Failure("out-of-memory", "was killed, as the system does when memory runs out")
        if status < 0:
            name = signal.Signals(-status).name
            return Failure("crash", f"crashed with {name}{self._last_place()}")
        words = self._last_words().splitlines()[-3:]
        note = f": {' '.join(words)}" if words else ""
        return Failure("exit", f"the process ended with status {status} before it answered{note}")

    def _last_place(self) -> str:
        for file, row in _DUMPED_FRAME.findall(self._last_words()):
            if not file.startswith((sys.prefix, sys.base_prefix, str(_PACKAGE_PARENT / "tclint"))):
                return f" at {file}:{row}"
        return ""

    def _last_words(self) -> str:
        return self._tail.decode("utf-8", "replace").strip()

    def _read_answers(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)

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


def _environment(cache: Path, device: str | None, trace: Path | None) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in _DROPPED}
    kept["TORCHINDUCTOR_CACHE_DIR"] = str(cache)
    kept["TRITON_CACHE_DIR"] = str(cache / "triton")
    if trace is not None:
        kept["TORCH_TRACE"] = str(trace)
    kept["PYTHONHASHSEED"] = "0"
    if device == "cpu":
        kept["CUDA_VISIBLE_DEVICES"] = ""
    return kept
