"""Processes that start with their modules imported: copies of one that has nothing else to do.

What a test starts this way has its own process, session, folder, environment and streams, as if it
had been spawned, and saves what importing costs: 0.3 seconds for a command of tclint, 4 for a child
that compiles. Tests of what a process imports, and of starting itself, spawn theirs.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import ctypes
import errno
import fcntl
import functools
import gc
import hashlib
import importlib
import io
import json
import os
import pkgutil
import re
import resource
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

_HEADER = struct.Struct("!I")
_MOST_DESCRIPTORS = 16
_ABOVE_ALL_IN_USE = 200
_DIE_WITH_PARENT = 1
_ENVIRONMENT_BEGINS = 47
"""Among the words of ``/proc/self/stat`` after the name; the next one is its end."""
_READ_WHEN_IMPORTED = ("CC", "CUDA", "CXX", "KMP", "MKL", "OMP", "PYTHON", "TORCH", "TRITON")
# Torch reads these when it needs them, or again in tests/verify_worker.py.
_READ_LATER = {"CUDA_VISIBLE_DEVICES", "TORCHINDUCTOR_CACHE_DIR", "TORCH_TRACE", "TRITON_CACHE_DIR"}
_ROOM = {"ROOM_FOR_VARIABLES": "x" * 4096}
_REPOSITORY = Path(__file__).resolve().parent.parent


class Forked:
    """One such process; the part of ``subprocess.Popen`` that its users need."""

    def __init__(self, status: int) -> None:
        """``status`` is where the process's number is told at once, and its end."""
        self._status = os.fdopen(status, "rb", buffering=0)
        self.pid = int(self._told())
        self.returncode: int | None = None
        self.stdin: IO[bytes] | None = None
        self.stdout: IO[bytes] | None = None
        self.stderr: IO[bytes] | None = None
        self._reading: list[_Reading] | None = None

    def poll(self) -> int | None:
        """How the process ended, as soon as it has."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it ends; tell how."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            self.returncode = os.waitstatus_to_exitcode(int(self._told()))
            self._status.close()
        return self.returncode

    def kill(self) -> None:
        """Kill it."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def communicate(self, timeout: float | None = None) -> tuple[bytes, bytes]:
        """Read what it prints until it ends."""
        if self._reading is None:
            self._reading = [_Reading(self.stdout), _Reading(self.stderr)]
        self.wait(timeout)
        out, err = (one.all() for one in self._reading)
        return out, err

    def _told(self) -> bytes:
        line = self._status.read(16)
        if not line:
            raise ChildProcessError("the process that copies itself has gone")
        return line


class _Reading(threading.Thread):
    """Reads a stream to its end."""

    def __init__(self, stream: IO[bytes] | None) -> None:
        super().__init__(daemon=True)
        self._stream, self._read = stream, b""
        self.start()

    def run(self) -> None:
        """Read."""
        if self._stream is not None:
            self._read = self._stream.read()
            self._stream.close()

    def all(self) -> bytes:
        """What was read, as soon as it is all."""
        self.join()
        return self._read


class Forkable:
    """A process that has imported some modules, and copies itself on demand."""

    def __init__(
        self, modules: Sequence[str], environment: Mapping[str, str], *, shared: bool = False
    ) -> None:
        """Import the modules in this environment.

        One that is ``shared`` serves all workers of a run of the tests: the first starts it.
        """
        self.environment = dict(environment)
        run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
        if shared and run and sys.platform == "linux":
            what = json.dumps([run, [*modules], read_when_imported(environment)])
            self._socket = self._joined(modules, hashlib.sha256(what.encode()).hexdigest())
            return
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._serve(modules, theirs)

    def _joined(self, modules: Sequence[str], name: str) -> socket.socket:
        """A connection to the process of this name, which is started where there is none."""
        address = f"\0tclint-{name}"
        with socket.socket(socket.AF_UNIX) as listening:
            try:
                listening.bind(address)
            except OSError as error:
                if error.errno != errno.EADDRINUSE:  # Another worker has started it.
                    raise
            else:
                listening.listen()
                self._serve(modules, listening)
        ours = socket.socket(socket.AF_UNIX)
        while True:
            try:
                ours.connect(address)
            except ConnectionRefusedError:  # It does not listen yet.
                time.sleep(0.01)
            else:
                return ours

    def _serve(self, modules: Sequence[str], theirs: socket.socket) -> None:
        code = f"from tests.forks import serve; serve({theirs.fileno()}, {list(modules)})"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=_REPOSITORY,
            env=self.environment | _ROOM,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )

    def would_start_like(self, environment: Mapping[str, str]) -> bool:
        """Tell whether the interpreter was started with the settings of this environment."""
        return _settings(environment) == _settings(self.environment)

    def start(
        self,
        module: str,
        arguments: Sequence[str],
        streams: tuple[int, int, int],
        cwd: Path,
        environment: Mapping[str, str],
        kept: Sequence[int] = (),
        *,
        beside: Path | None = None,
        memory: int = 0,
    ) -> Forked:
        """Run ``python -m module`` with these descriptors as its standard streams.

        It has ``kept`` by the numbers that they have here. ``beside`` is where the script lies
        that it is the same as: modules are looked for there, and not in the folder that it works
        in. ``memory`` is the most that it may address.
        """
        told, tells = os.pipe()
        request = {
            "module": module,
            "arguments": [*arguments],
            "cwd": str(cwd),
            "environment": dict(environment),
            "numbers": [0, 1, 2, *kept],
            "beside": str(beside or cwd),
            "memory": memory,
        }
        text = json.dumps(request).encode()
        descriptors = array.array("i", [*streams, *kept, tells]).tobytes()
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)
        self._socket.sendmsg([_HEADER.pack(len(text))], [rights])
        self._socket.sendall(text)
        os.close(tells)
        return Forked(told)

    def run(
        self,
        module: str,
        arguments: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdin: bytes = b"",
        timeout: float,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run to the end, as ``subprocess.run`` does with captured output."""
        with contextlib.ExitStack() as stack:
            given, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
            given.write(stdin)
            given.seek(0)
            streams = (given.fileno(), out.fileno(), err.fileno())
            process = self.start(module, arguments, streams, cwd, env)
            try:
                code = process.wait(timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess([*arguments], code, out.read(), err.read())


def everything(*packages: str) -> list[str]:
    """The modules of the packages, but for what runs when it is imported, what other programs load
    (the recorder, the plugin of pytest and the callbacks, which need what they are for), and what
    imports torch, which no command does: a copy's pages are its own as soon as it counts on them.
    """
    found = [*packages]
    for name in packages:
        path = importlib.import_module(name).__path__
        found += [one.name for one in pkgutil.walk_packages(path, f"{name}.")]
    elsewhere = re.compile(r"tclint\.(recorder|pytest_plugin|verify)\b")
    return [name for name in found if not name.endswith(".__main__") and not elsewhere.match(name)]


def _settings(environment: Mapping[str, str]) -> dict[str, str]:
    """What the interpreter reads while it starts."""
    return {name: value for name, value in environment.items() if name.startswith("PYTHON")}


def read_when_imported(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """What Python reads while it starts, and torch and its compilers when they are imported."""
    found = {k: v for k, v in environment.items() if k.startswith(_READ_WHEN_IMPORTED)}
    return tuple(sorted((k, v) for k, v in found.items() if k not in _READ_LATER))


def serve(connection: int, modules: Sequence[str]) -> None:
    """Import the modules, then copy this process for each request until nobody can ask."""
    for name in modules:
        with contextlib.suppress(ImportError):  # of an extra that is not installed here
            importlib.import_module(name)
    gc.collect()
    gc.freeze()
    become = _copies(socket.socket(fileno=connection))
    if become is not None:
        _run_to_the_end(become)


def _run_to_the_end(become: Callable[[], None]) -> None:
    """Run what a copy is to run, and end as Python does, but for taking all modules apart: that
    would write to each page, and make it the copy's own. Where an exception ends it, Python does.
    """
    status: object = None
    try:
        become()
    except SystemExit as end:
        status = end.code
    if not isinstance(status, int | None):
        raise SystemExit(status)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError, ValueError):  # Python tells what could not be written.
        sys.stdout.flush()
        sys.stderr.flush()
        ctypes.CDLL(None).fflush(None)
        os._exit((status or 0) & 0xFF)
    raise SystemExit(status)


def _copies(theirs: socket.socket) -> Callable[[], None] | None:
    """Serve requests; returns in each copy, with what it is to run, and at the end."""
    woken, wakes = socket.socketpair()
    woken.setblocking(False)
    wakes.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes.fileno())
    running: dict[int, int] = {}
    listens = bool(theirs.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
    asking = {theirs.accept()[0] if listens else theirs}
    while asking:
        ready = select.select([*asking, woken, *[theirs] * listens], [], [])[0]
        if woken in ready:
            woken.recv(4096)
            _tell_ends(running)
        if listens and theirs in ready:
            asking.add(theirs.accept()[0])
        for asked in asking.intersection(ready):
            request, descriptors = _received(asked)
            if request is None:
                asking.remove(asked)
                asked.close()
                continue
            *streams, tells = descriptors
            process = os.fork()
            if process == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for one in (theirs, woken, wakes, *asking):
                    one.close()
                for one in running.values():
                    os.close(one)
                os.setsid()
                os.write(tells, b"%-16d" % os.getpid())
                os.close(tells)
                return functools.partial(_become, request, streams)
            for one in streams:
                os.close(one)
            running[process] = tells
    return None


def _received(asked: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    room = socket.CMSG_SPACE(_MOST_DESCRIPTORS * array.array("i").itemsize)
    header, rights, *_ = asked.recvmsg(_HEADER.size, room)
    if not header:
        return None, []
    descriptors = array.array("i")
    for _, _, data in rights:
        descriptors.frombytes(data)
    (size,) = _HEADER.unpack(header)
    text = b""
    while len(text) < size:
        text += asked.recv(size - len(text))
    return json.loads(text), list(descriptors)


def _tell_ends(running: dict[int, int]) -> None:
    with contextlib.suppress(ChildProcessError):
        while True:
            process, status = os.waitpid(-1, os.WNOHANG)
            if process == 0:
                return
            tells = running.pop(process)
            os.write(tells, b"%-16d" % status)
            os.close(tells)


def _become(request: dict[str, Any], streams: Sequence[int]) -> None:
    """Be ``python -m module``."""
    aside = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, _ABOVE_ALL_IN_USE) for one in streams]
    for one in streams:
        os.close(one)
    for number, one in zip(request["numbers"], aside, strict=True):
        os.dup2(one, number)
        os.close(one)
    _open_streams()
    os.environ.clear()
    os.environ.update(request["environment"])
    tempfile.tempdir = None
    if sys.platform == "linux":
        _show_environment()
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if request["memory"]:
        resource.setrlimit(resource.RLIMIT_AS, (request["memory"],) * 2)
    os.chdir(request["cwd"])
    sys.path[0] = request["beside"]
    sys.argv = [request["module"], *request["arguments"]]
    runpy.run_module(request["module"], run_name="__main__", alter_sys=True)


def _open_streams() -> None:
    """Standard streams for what they are now: a pipe, a file or a terminal."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old: io.TextIOWrapper = getattr(sys, name)
        mode, size = ("wb", 0 if old.write_through else -1) if number else ("rb", -1)
        new = io.TextIOWrapper(
            open(number, mode, size, closefd=False),  # noqa: SIM115 (it stays open)
            old.encoding,
            old.errors,
            line_buffering=old.line_buffering or os.isatty(number),
            write_through=old.write_through,
        )
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)


def _show_environment() -> None:
    """Let ``/proc`` show the environment that this process has now, as far as there is room."""
    words = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    begin, end = map(int, words[_ENVIRONMENT_BEGINS : _ENVIRONMENT_BEGINS + 2])
    text = b"".join(name + b"=" + value + b"\0" for name, value in os.environb.items())
    ctypes.memset(begin, 0, end - begin)
    ctypes.memmove(begin, text, min(len(text), end - begin))
