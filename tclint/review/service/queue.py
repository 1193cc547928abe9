"""The work that is still to be done, on disk: what was accepted survives any end of the process.

There is one job a pull request. A webhook for one that waits adds nothing, since a review always
takes the pull request as it is; one that comes while the job runs makes it run once more.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tclint.records import record

_KEEP_DELIVERIES: Final = 7 * 24 * 3600.0
"""Seconds; GitHub itself can deliver again for three days."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS deliveries (id TEXT PRIMARY KEY, received REAL NOT NULL);
CREATE INDEX IF NOT EXISTS deliveries_received ON deliveries (received);
CREATE TABLE IF NOT EXISTS jobs (
    repository TEXT NOT NULL,
    number INTEGER NOT NULL,
    installation INTEGER NOT NULL,
    wanted INTEGER NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due REAL NOT NULL,
    posting REAL NOT NULL DEFAULT 0,
    error TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (repository, number)
);
"""


@record(frozen=True)
class Job:
    """A pull request to review; ``wanted`` counts the webhooks that asked for it."""

    repository: str
    number: int
    installation: int
    wanted: int = 1
    attempts: int = 0


class Queue:
    """The jobs; every method is one transaction and may be called from any thread."""

    def __init__(self, file: Path) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(
            file, check_same_thread=False, isolation_level=None, timeout=30
        )
        self._connection.executescript(
            f"PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; {_SCHEMA}"
        )

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._connection.close()

    def add(self, delivery: str, job: Job, now: float) -> bool:
        """Accept a delivery; False if it was accepted before."""
        with self._transaction() as run:
            run("DELETE FROM deliveries WHERE received < ?", now - _KEEP_DELIVERIES)
            new = run("INSERT OR IGNORE INTO deliveries VALUES (?, ?)", delivery, now)
            if not new.rowcount:
                return False
            run(
                "INSERT INTO jobs (repository, number, installation, wanted, state, due)"
                " VALUES (?, ?, ?, 1, 'queued', ?)"
                " ON CONFLICT (repository, number) DO UPDATE SET wanted = wanted + 1,"
                " installation = excluded.installation,"
                " attempts = CASE state WHEN 'failed' THEN 0 ELSE attempts END,"
                " due = CASE state WHEN 'failed' THEN excluded.due ELSE due END,"
                " state = CASE state WHEN 'failed' THEN 'queued' ELSE state END",
                job.repository, job.number, job.installation, now,
            )  # fmt: skip
            return True

    def claim(self, now: float) -> Job | None:
        """Take the job that has been due for longest."""
        with self._transaction() as run:
            row = run(
                "SELECT repository, number, installation, wanted, attempts FROM jobs"
                " WHERE state = 'queued' AND due <= ? ORDER BY due LIMIT 1", now,
            ).fetchone()  # fmt: skip
            if row is None:
                return None
            job = Job(*row)
            self._update(run, job, "state = 'running', attempts = attempts + 1")
            return job

    def posting(self, job: Job, now: float) -> None:
        """Note that a request is about to be sent whose effect may come late."""
        with self._transaction() as run:
            self._update(run, job, "posting = ?", now)

    def finish(self, job: Job, now: float) -> None:
        """The job is done; it goes on where webhooks came meanwhile."""
        with self._transaction() as run:
            run(
                "DELETE FROM jobs WHERE repository = ? AND number = ? AND wanted = ?",
                job.repository, job.number, job.wanted,
            )  # fmt: skip
            self._update(run, job, "state = 'queued', attempts = 0, posting = 0, due = ?", now)

    def postpone(self, job: Job, due: float, attempts: int, error: str) -> None:
        """Try again at a time; ``attempts`` is how many count so far."""
        with self._transaction() as run:
            change = "state = 'queued', due = ?, attempts = ?, error = ?"
            self._update(run, job, change, due, attempts, error)

    def give_up(self, job: Job, error: str) -> None:
        """Keep the job as failed until a webhook asks again."""
        with self._transaction() as run:
            self._update(run, job, "state = 'failed', error = ?", error)
            run(
                "UPDATE jobs SET state = 'queued', attempts = 0"
                " WHERE repository = ? AND number = ? AND wanted > ?",
                job.repository, job.number, job.wanted,
            )  # fmt: skip

    def recover(self, now: float, settling: float, attempts: int) -> int:
        """Take back what an earlier process was at when it ended; returns how many jobs.

        A request that it had sent may still take effect: such a job waits until that is over. One
        that was begun ``attempts`` times may be what ended the process.
        """
        with self._transaction() as run:
            run(
                "UPDATE jobs SET state = 'failed', error = 'the process ended'"
                " WHERE state = 'running' AND attempts >= ?", attempts,
            )  # fmt: skip
            return run(
                "UPDATE jobs SET state = 'queued', due = max(?, posting + ?)"
                " WHERE state = 'running'", now, settling,
            ).rowcount  # fmt: skip

    def states(self) -> dict[str, int]:
        """How many jobs there are in each state."""
        with self._transaction() as run:
            return dict(run("SELECT state, count(*) FROM jobs GROUP BY state").fetchall())

    def _update(self, run: _Run, job: Job, change: str, *values: float | str) -> None:
        statement = f"UPDATE jobs SET {change} WHERE repository = ? AND number = ?"
        run(statement, *values, job.repository, job.number)

    @contextmanager
    def _transaction(self) -> Iterator[_Run]:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield _Run(self._connection)
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")


class _Run:
    """Runs a statement with its values."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __call__(self, statement: str, *values: float | str) -> sqlite3.Cursor:
        return self._connection.execute(statement, values)
