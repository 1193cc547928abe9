"""Garbage collection when nobody waits: during an analysis it would cost more than the analysis."""

from __future__ import annotations

import asyncio
import gc
from concurrent.futures import ThreadPoolExecutor
from typing import Final

IDLE: Final = 1.0
"""Seconds without an analysis after which there is time."""
MOST: Final = 200
"""Analyses after which it is done in any case."""


class IdleCollector:
    """Collects on the worker thread, between analyses."""

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None
        self._analyses = 0

    def later(self, worker: ThreadPoolExecutor) -> None:
        """An analysis is done: collect when a while has passed without another."""
        if self._timer is not None:
            self._timer.cancel()
        self._analyses += 1
        wait = 0.0 if self._analyses >= MOST else IDLE
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(wait, self._collect, worker)

    def _collect(self, worker: ThreadPoolExecutor) -> None:
        self._analyses = 0
        worker.submit(gc.collect)
