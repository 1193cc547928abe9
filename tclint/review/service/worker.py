"""Does the jobs: fetches, has the change analysed, and posts."""

from __future__ import annotations

import logging
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import Final

from tclint.review.client import ApiError, ForbiddenError, LaterError
from tclint.review.findings import Change
from tclint.review.github.api import GitHub, Pull
from tclint.review.github.app import App
from tclint.review.github.check_run import post_check_run
from tclint.review.github.post import Place, post_failure, post_review
from tclint.review.plan import Review
from tclint.review.reconcile import Done
from tclint.review.secret import Secret
from tclint.review.service.analysis import AnalysisError, analyse
from tclint.review.service.checkout import fetch
from tclint.review.service.child import ChildError
from tclint.review.service.metrics import Metrics
from tclint.review.service.queue import Job, Queue
from tclint.review.service.settings import Settings

LOG: Final = logging.getLogger("tclint.review")
_IDLE: Final = 1.0
"""Seconds between looks at the queue when nobody says that there is work."""


class Workers:
    """Threads that do one job after the other until they are stopped."""

    def __init__(self, settings: Settings, queue: Queue, metrics: Metrics) -> None:
        self._settings = settings
        self._queue = queue
        self._metrics = metrics
        self._app = App(settings.api_url, settings.app_id, settings.private_key, settings.patience)
        self._stop = threading.Event()
        self._work = threading.Event()
        self._scratch = settings.folder / "scratch"
        self._threads = [
            threading.Thread(target=self._loop, name=f"worker-{number}", daemon=True)
            for number in range(settings.workers)
        ]

    def start(self) -> None:
        """Take back what an earlier process left, and begin."""
        shutil.rmtree(self._scratch, ignore_errors=True)
        # A Git that outlives a killed server for a moment may still write there.
        self._scratch.mkdir(parents=True, exist_ok=True)
        taken = self._queue.recover(time.time(), self._settings.settling, self._settings.attempts)
        LOG.info("started: %d jobs taken over", taken)
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """Say that there is work."""
        self._work.set()

    def stop(self) -> None:
        """Begin no other job, and wait for those at hand as long as the settings say."""
        self._stop.set()
        self._work.set()
        end = time.monotonic() + self._settings.grace
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        self._app.close()
        if not any(thread.is_alive() for thread in self._threads):
            # Each job has removed its own; not what a Git of a killed server wrote meanwhile.
            shutil.rmtree(self._scratch, ignore_errors=True)

    @property
    def alive(self) -> bool:
        """Whether every thread runs."""
        return all(thread.is_alive() for thread in self._threads)

    def _loop(self) -> None:
        while not self._stop.is_set():
            try:
                self._next()
            except Exception:
                # The queue's disk may be full. A thread that ends does no other job.
                LOG.exception("the queue fails")
                self._stop.wait(_IDLE)

    def _next(self) -> None:
        job = self._queue.claim(time.time())
        if job is None:
            self._work.wait(_IDLE)
            self._work.clear()
        else:
            self._attempt(job)

    def _attempt(self, job: Job) -> None:
        started = time.monotonic()
        try:
            self._review(job)
        except LaterError as error:
            self._later(job, error)
        except (ForbiddenError, ValueError) as error:
            self._give_up(job, error)
        except (ApiError, ChildError, OSError) as error:
            self._again(job, error)
        except (LookupError, TypeError, AttributeError) as error:
            LOG.exception("%s#%d: unexpected answer", job.repository, job.number)
            self._again(job, error)
        except Exception as error:
            # A job that nobody puts off counts as running for ever.
            LOG.exception("%s#%d: unexpected error", job.repository, job.number)
            self._again(job, error)
        else:
            LOG.info("%s#%d: done", job.repository, job.number)
            self._queue.finish(job, time.time())
            self._metrics.add("tclint_reviews_total", 'outcome="done"')
        self._metrics.took(time.monotonic() - started)

    def _later(self, job: Job, error: LaterError) -> None:
        """Wait as GitHub asks: a job must not be lost to a limit or to an outage."""
        delay = max(error.wait, self._settings.first_delay)
        self._postpone(job, error, delay, job.attempts)

    def _again(self, job: Job, error: Exception) -> None:
        if job.attempts + 1 >= self._settings.attempts:
            self._give_up(job, error)
        else:
            delay = self._settings.first_delay * 2.0**job.attempts
            self._postpone(job, error, delay, job.attempts + 1)

    def _postpone(self, job: Job, error: Exception, delay: float, attempts: int) -> None:
        LOG.warning("%s#%d: %s; again in %.0f s", job.repository, job.number, error, delay)
        self._queue.postpone(job, time.time() + delay, attempts, str(error))
        self._metrics.add("tclint_reviews_total", 'outcome="postponed"')

    def _give_up(self, job: Job, error: Exception) -> None:
        LOG.error("%s#%d: given up: %s", job.repository, job.number, error)
        self._queue.give_up(job, str(error))
        self._metrics.add("tclint_reviews_total", 'outcome="failed"')

    def _review(self, job: Job) -> None:
        token = self._app.token(job.installation, job.repository.partition("/")[2])
        client = self._app.client(token)
        try:
            github = GitHub(client, job.repository, self._app.login())
            pull = github.pull(job.number)
            if not pull.is_open or (pull.draft and not self._settings.drafts):
                LOG.info("%s#%d: closed or a draft", job.repository, job.number)
                return
            with tempfile.TemporaryDirectory(dir=self._scratch) as folder:
                self._tell(job, github, pull, token, Path(folder))
        finally:
            client.close()

    def _tell(self, job: Job, github: GitHub, pull: Pull, token: Secret, folder: Path) -> None:
        fork = github.merge_base(pull.base, pull.head)
        commits = (pull.base, pull.head, fork)
        repository = fetch(self._settings, job.repository, commits, token, folder)
        change = Change(pull.base, pull.head, fork, trusted=pull.base)
        place = Place(github, job.number, lambda: self._queue.posting(job, time.time()))
        try:
            review = analyse(self._settings, repository, change, github.shown(job.number))
        except AnalysisError as error:
            LOG.warning("%s#%d: %s", job.repository, job.number, error)
            post_failure(place, pull.base, pull.head, str(error))
        else:
            self._post(place, review)

    def _post(self, place: Place, review: Review) -> None:
        settling = self._settings.settling
        if self._settings.check_run:
            post_check_run(place.github, review, settling=settling)
        else:
            self._count(post_review(place, review, settling=settling))

    def _count(self, done: Done) -> None:
        for name in ("new", "edited", "resolved", "removed"):
            self._metrics.add("tclint_comments_total", f'action="{name}"', getattr(done, name))
