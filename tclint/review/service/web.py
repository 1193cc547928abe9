"""The bot's web interface: webhooks, health, metrics."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
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
        body = await _body(request)
        if body is None:
            return self._answer(413, "too-large")
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
        if not await run_in_threadpool(self._queue.add, delivery, job, time.time()):
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

    def _answer(self, status: int, outcome: str) -> Response:
        self._metrics.add("tclint_webhooks_total", f'outcome="{outcome}"')
        return JSONResponse({"status": outcome}, status)


async def _body(request: Request) -> bytes | None:
    """The body, or None where it is too long; no more than that is ever held."""
    declared = request.headers.get("content-length", "0")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > MAX_BODY:
        return None
    parts = bytearray()
    async for part in request.stream():
        parts += part
        if len(parts) > MAX_BODY:
            return None
    return bytes(parts)
