"""The bot's web interface: webhooks, health, metrics."""

from __future__ import annotations

import asyncio
import logging
import re
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from tclint.review.service.events import EventError, job_of
from tclint.review.service.metrics import Metrics
from tclint.review.service.queue import Queue
from tclint.review.service.settings import Settings
from tclint.review.service.signature import is_signed
from tclint.review.service.worker import Workers

if TYPE_CHECKING:
    from starlette.requests import Request

MAX_BODY: Final = 1024 * 1024
"""Payloads of pull requests have some ten kilobytes; texts in them are limited."""

MAX_HELD: Final = 64 * 1024 * 1024
"""Bytes of all bodies together that are being received: whom they come from is not known yet."""

BODY_SECONDS: Final = 20.0
"""GitHub itself gives up after ten."""

LOG: Final = logging.getLogger("tclint.review")
_DELIVERY: Final = re.compile(r"[0-9A-Za-z-]{1,64}")


class Web:
    """The handlers, with what they share."""

    def __init__(
        self, settings: Settings, queue: Queue, workers: Workers, metrics: Metrics
    ) -> None:
        self._settings = settings
        self._queue = queue
        self._workers = workers
        self._metrics = metrics
        self._held = 0

    def application(self) -> Starlette:
        """The ASGI application; the workers live as long as it does."""
        return Starlette(
            routes=[
                Route("/webhook", self._webhook, methods=["POST"]),
                Route("/healthz", self._health),
                Route("/metrics", self._figures),
            ],
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        self._workers.start()
        try:
            yield
        finally:
            await run_in_threadpool(self._workers.stop)

    async def _webhook(self, request: Request) -> Response:
        try:
            body = await asyncio.wait_for(self._body(request), BODY_SECONDS)
        except asyncio.TimeoutError:
            return self._hang_up(408, "too-slow")
        except asyncio.CancelledError:
            # The server ends, and has waited for as long as it does.
            return self._hang_up(503, "stopping")
        except ClientDisconnect:
            return self._hang_up(400, "aborted")
        except _RefusedError as refused:
            return self._hang_up(refused.status, refused.outcome)
        signature = request.headers.get("x-hub-signature-256", "")
        # Nothing is looked at before it is known to come from GitHub.
        if not is_signed(self._settings.webhook_secret, body, signature):
            return self._answer(401, "bad-signature")
        delivery = request.headers.get("x-github-delivery", "")
        if not _DELIVERY.fullmatch(delivery):
            return self._answer(400, "bad-delivery")
        try:
            job = job_of(request.headers.get("x-github-event", ""), body)
        except EventError:
            return self._answer(400, "bad-payload")
        if job is None:
            return self._answer(200, "ignored")
        # Accepted means on disk: GitHub does not send again what was answered.
        try:
            new = await run_in_threadpool(self._queue.add, delivery, job, time.time())
        except sqlite3.Error as error:
            LOG.error("%s: cannot be queued: %s", delivery, error)
            return self._answer(503, "not-queued")
        if not new:
            return self._answer(200, "duplicate")
        self._workers.wake()
        return self._answer(202, "accepted")

    async def _health(self, _: Request) -> Response:
        jobs = await run_in_threadpool(self._queue.states)
        healthy = self._workers.alive
        return JSONResponse({"healthy": healthy, "jobs": jobs}, 200 if healthy else 503)

    async def _figures(self, _: Request) -> Response:
        jobs = await run_in_threadpool(self._queue.states)
        return PlainTextResponse(self._metrics.render(jobs))

    def _answer(self, status: int, outcome: str, headers: dict[str, str] | None = None) -> Response:
        self._metrics.add("tclint_webhooks_total", f'outcome="{outcome}"')
        return JSONResponse({"status": outcome}, status, headers)

    def _hang_up(self, status: int, outcome: str) -> Response:
        """Answer what was not read to its end: nothing else can come on this connection."""
        return self._answer(status, outcome, {"Connection": "close"})

    async def _body(self, request: Request) -> bytes:
        """The body; no more than one may have is ever held, nor more of all than all may have.

        Raises:
            _RefusedError: it is too long, or there are too many.
            ClientDisconnect: it ended early.
        """
        declared = request.headers.get("content-length", "0")
        if declared.isascii() and declared.isdigit() and int(declared[:20]) > MAX_BODY:
            raise _RefusedError(413, "too-large")
        parts = bytearray()
        try:
            async for part in request.stream():
                parts += part
                self._held += len(part)
                if len(parts) > MAX_BODY:
                    raise _RefusedError(413, "too-large")
                if self._held > MAX_HELD:
                    raise _RefusedError(503, "busy")
            return bytes(parts)
        finally:
            self._held -= len(parts)


class _RefusedError(Exception):
    """A body that is not read to its end."""

    def __init__(self, status: int, outcome: str) -> None:
        super().__init__(outcome)
        self.status = status
        self.outcome = outcome
