"""Runs the bot."""

from __future__ import annotations

import fcntl
import logging
from pathlib import Path
from typing import IO, Final

import uvicorn

from tclint.logs import PrintableFormatter
from tclint.review.service import protocol
from tclint.review.service.metrics import Metrics
from tclint.review.service.queue import Queue
from tclint.review.service.settings import Settings
from tclint.review.service.web import Web
from tclint.review.service.worker import Workers

_LINE: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_SHUTDOWN: Final = 5
"""Seconds that open connections get; the jobs at hand get ``Settings.grace`` after that."""


class BusyError(Exception):
    """Another process uses the folder."""


def run(settings: Settings, host: str, port: int) -> None:
    """Serve until SIGINT or SIGTERM.

    Raises:
        BusyError: another process uses the folder: two would not know of each other's jobs.
    """
    settings.folder.mkdir(parents=True, exist_ok=True)
    with (settings.folder / "lock").open("w") as lock:
        _lock(lock, settings.folder)
        handler = logging.StreamHandler()
        handler.setFormatter(PrintableFormatter(_LINE))
        logging.basicConfig(level=logging.INFO, handlers=[handler])
        logging.getLogger("httpx").setLevel(logging.WARNING)
        queue = Queue(settings.folder / "queue.sqlite")
        metrics = Metrics()
        web = Web(settings, queue, Workers(settings, queue, metrics), metrics)
        uvicorn.run(
            web.application(),
            host=host,
            port=port,
            log_config=None,
            access_log=False,
            server_header=False,
            http=protocol.Protocol,
            timeout_keep_alive=protocol.IDLE_SECONDS,
            ws="none",
            limit_concurrency=protocol.at_once(),
            timeout_graceful_shutdown=_SHUTDOWN,
        )
        queue.close()


def _lock(file: IO[str], folder: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise BusyError(f"another process uses {folder}") from error
