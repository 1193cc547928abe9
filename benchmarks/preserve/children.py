"""Run a function in a forked child with limits, and bring its result back."""

from __future__ import annotations

import contextlib
import os
import pickle
import resource
import signal
from collections.abc import Callable, Iterator
from typing import Any

_PATIENCE = 20
"""How many times longer a child may take by the clock than of the processor's time."""


class ChildError(Exception):
    """Raised when a child dies, takes too long, or fails outside of the program that it runs."""


class TooLongError(BaseException):
    """Raised inside of a child where one part of its work takes too long."""


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Give a part of a child's work some seconds of the processor's time.

    Raises:
        TooLongError: they are over.
    """

    def stop(*_: object) -> None:
        raise TooLongError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def in_child(call: Callable[[], Any], seconds: int, patience: int = _PATIENCE) -> Any:
    """What a call returns in a child.

    Raises:
        ChildError: there is no result.
    """
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        _work(call, sink, seconds, patience)
    os.close(sink)
    with os.fdopen(source, "rb") as stream:
        data = stream.read()
    _, status = os.waitpid(child, 0)
    if status or not data:
        raise ChildError(f"the child ended with status {status}")
    good, value = pickle.loads(data)
    if not good:
        raise ChildError(value)
    return value


def _work(call: Callable[[], Any], sink: int, seconds: int, patience: int) -> None:
    """Never returns: a forked copy must not go on with what its parent does."""
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number in (signal.SIGALRM, signal.SIGPROF):
            signal.signal(number, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.alarm(seconds * patience)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        try:
            answer = (True, call())
        except Exception as error:  # noqa: BLE001 (told to the parent)
            answer = (False, f"{type(error).__name__}: {error}")
        with os.fdopen(sink, "wb") as stream:
            stream.write(pickle.dumps(answer))
    finally:
        os._exit(0)
