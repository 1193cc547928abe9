"""How long a connection may take, and how many there may be: what the web server leaves open."""

from __future__ import annotations

import asyncio
import resource
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS_SECONDS: Final = 10.0
"""From the first moment, or the first byte after an answer, to the end of a request's headers."""

REQUEST_SECONDS: Final = 60.0
"""From there to the last byte of the answer, which the other side has to take."""

IDLE_SECONDS: Final = 5
"""From an answer to the next request's first byte."""

_AT_ONCE: Final = 1000


def at_once() -> int:
    """How many connections there may be: half of the files that this process may have open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _AT_ONCE if files == resource.RLIM_INFINITY else max(1, min(_AT_ONCE, files // 2))


class Protocol(H11Protocol):
    """HTTP with an end to all waiting: a connection that is slow, idle or one too many is cut."""

    _timer: asyncio.TimerHandle | None = None
    _timed: object = None

    def connection_made(self, transport: Any) -> None:
        """Refuse one too many at once: it would cost a file before it says a word."""
        super().connection_made(transport)
        if self.limit_concurrency is not None and len(self.connections) > self.limit_concurrency:
            transport.abort()
        else:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes, and see what is waited for now."""
        if not self.transport.is_closing():
            super().data_received(data)
            self._expect()

    def send_400_response(self, msg: str) -> None:
        """Answer garbage, unless it follows a request that is being answered or has been."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE} and not self._answering:
            super().send_400_response(msg)
        else:
            self.transport.abort()

    @property
    def _answering(self) -> bool:
        cycle: Any = self.cycle
        return cycle is not None and not cycle.response_complete

    def _expect(self) -> None:
        """Set the clock for what is waited for, where it is not set for that already."""
        waiting = self.cycle if self._answering else None
        if self._timer is None or waiting is not self._timed:
            self._stop()
            seconds = HEADERS_SECONDS if waiting is None else REQUEST_SECONDS
            self._timed = waiting
            self._timer = self.loop.call_later(seconds, self._cut)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _cut(self) -> None:
        self._timer = None
        self.transport.abort()

    def on_response_complete(self) -> None:
        """The server itself waits for the next request, until its first byte."""
        self._stop()
        super().on_response_complete()
        if self._answering:
            self._expect()
