"""The bot, from the webhook to the comment, with real repositories over HTTP."""

from __future__ import annotations

import json
import signal
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tclint.cli.app import app
from tclint.review.secret import Secret
from tclint.review.service import serve
from tclint.review.service.events import job_of
from tclint.review.service.metrics import Metrics
from tclint.review.service.queue import Job, Queue
from tclint.review.service.serve import BusyError
from tclint.review.service.settings import Settings
from tclint.review.service.worker import Workers
from tests.review.bot import EXAMPLES, Bot, payload, running_bot, wait_for
from tests.review.github_server import Fault, GitHubServer, Pull
from tests.review_repository import Repository, new_repository
from tests.test_review_github import CLEAN, ITEM, PRINT, net


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """One repository for all tests: each uses a branch and a pull request of its own."""
    repository = new_repository(tmp_path_factory.mktemp("bot") / "repo")
    repository.commit({"net.py": CLEAN})
    return repository


@pytest.fixture(scope="module")
def server(repository: Repository) -> Iterator[GitHubServer]:
    server = GitHubServer({"octo/model": repository}, {})
    with server.running():
        yield server
    assert server.complaints == []


@pytest.fixture(scope="module")
def bot(server: GitHubServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bot]:
    with running_bot(tmp_path_factory.mktemp("state"), server) as bot:
        yield bot
        assert server.token not in bot.log.read_text("utf-8")


@pytest.fixture(scope="module")
def quick(server: GitHubServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bot]:
    """A bot whose analysis always finds one thing: for all that happens around it."""
    with running_bot(tmp_path_factory.mktemp("quick"), server, stub=True) as bot:
        yield bot


def open_pull(server: GitHubServer, repository: Repository, source: str) -> Pull:
    """A new pull request with one file changed."""
    number = len(server.pulls) + 1
    repository.git("checkout", "--quiet", "-b", f"change-{number}", "main")
    repository.commit({"net.py": source})
    pull = Pull(number, head=f"change-{number}")
    server.pulls["octo/model", number] = pull
    return pull


def test_a_webhook_becomes_a_review_and_a_push_resolves_it(
    bot: Bot, server: GitHubServer, repository: Repository
) -> None:
    pull = open_pull(server, repository, net(ITEM, PRINT))
    answer = bot.send(payload(pull.number))
    assert (answer.status_code, answer.json()) == (202, {"status": "accepted"})
    bot.settle()
    assert [c["line"] for c in server.live(number=pull.number)] == [7, 8]
    posts = server.posts()

    bot.send(payload(pull.number, "synchronize"))
    bot.settle()
    assert server.posts() == posts

    repository.commit({"net.py": net(ITEM)})
    bot.send(payload(pull.number, "synchronize"))
    bot.settle()
    assert [c["line"] for c in server.live(number=pull.number)] == [7]
    assert server.posts() == posts
    assert 'tclint_comments_total{action="resolved"} 1' in bot.metrics()


def test_a_delivery_counts_once(quick: Bot, server: GitHubServer, repository: Repository) -> None:
    pull = open_pull(server, repository, net(PRINT))
    answers = [quick.send(payload(pull.number), delivery="same-delivery") for _ in range(3)]
    assert [answer.json()["status"] for answer in answers] == ["accepted", "duplicate", "duplicate"]
    quick.settle()
    assert len(server.live(number=pull.number)) == 1


@pytest.mark.parametrize("change", [{"draft": True}, {"state": "closed"}])
def test_drafts_and_closed_pull_requests_are_left_alone(
    quick: Bot, server: GitHubServer, repository: Repository, change: dict[str, object]
) -> None:
    pull = open_pull(server, repository, net(PRINT))
    vars(pull).update(change)
    assert quick.send(payload(pull.number)).status_code == 202
    quick.settle()
    assert server.bodies(pull.number) == []


def test_a_fork_is_reviewed_like_any_other(
    bot: Bot, server: GitHubServer, repository: Repository
) -> None:
    pull = open_pull(server, repository, net(PRINT))
    pull.fork = True
    bot.send(payload(pull.number))
    bot.settle()
    assert len(server.live(number=pull.number)) == 1


@pytest.mark.parametrize(
    "fault",
    [
        Fault("POST", "/reviews$", 502, done=True),
        Fault("POST", "/reviews$", 500),
        Fault("POST", "/reviews$", 429, headers={"Retry-After": "0"}),
        Fault("POST", "/reviews$", 403, headers={"Retry-After": "3"}),
        Fault("GET", "/comments$", 503, times=7),
        Fault("POST", "access_tokens$", 500, times=6),
    ],
    ids=lambda fault: f"{fault.method}{fault.path}-{fault.status}-{fault.done}",
)
def test_faults_neither_lose_nor_double_a_review(
    quick: Bot, server: GitHubServer, repository: Repository, fault: Fault
) -> None:
    pull = open_pull(server, repository, net(PRINT))
    server.faults[:] = [fault]
    quick.send(payload(pull.number))
    quick.settle()
    assert fault.times == 0
    assert len(server.bodies(pull.number)) == 1
    assert len([r for r in server.reviews if r["number"] == pull.number]) == 1


def test_a_token_without_rights_ends_the_job_until_the_next_webhook(
    quick: Bot, server: GitHubServer, repository: Repository
) -> None:
    pull = open_pull(server, repository, net(PRINT))
    server.may_write = False
    quick.send(payload(pull.number))
    quick.settle()
    assert quick.jobs() == {"failed": 1}
    server.may_write = True
    quick.send(payload(pull.number))
    quick.settle()
    assert quick.jobs() == {}
    assert len(server.live(number=pull.number)) == 1


def test_a_faulty_configuration_of_the_base_is_told_once(
    bot: Bot, server: GitHubServer, repository: Repository
) -> None:
    repository.git("checkout", "--quiet", "-b", "faulty", "main")
    repository.commit({"tclint.toml": "nonsense = 1\n"})
    pull = open_pull(server, repository, net(PRINT))
    pull.base = "faulty"
    for _ in range(2):
        bot.send(payload(pull.number))
        bot.settle()
    (review,) = [r for r in server.reviews if r["number"] == pull.number]
    assert "**tclint** could not review this:" in review["body"]
    assert "nonsense" in review["body"]


def test_health_and_metrics_tell_how_it_goes(bot: Bot) -> None:
    bot.send(b"{}", signature="sha256=wrong")
    figures = bot.metrics()
    assert 'tclint_jobs{state="queued"} 0' in figures
    assert 'tclint_webhooks_total{outcome="bad-signature"}' in figures


def test_payloads_that_github_sent_are_understood() -> None:
    for example in json.loads(EXAMPLES.read_text("utf-8")):
        sent = example["payload"]
        job = job_of(example["event"], json.dumps(sent).encode())
        wanted = sent.get("action") in {"opened", "synchronize", "ready_for_review"}
        assert (job is not None) == (wanted and "installation" in sent)
        if job is not None:
            assert (job.repository, job.number) == ("Codertocat/Hello-World", sent["number"])


def test_two_bots_do_not_share_a_folder(bot: Bot) -> None:
    settings = Settings("1", Secret(""), Secret("x"), bot.log.parent / "state")
    with pytest.raises(BusyError, match="another process uses"):
        serve.run(settings, "127.0.0.1", 0)


@pytest.mark.parametrize("variable", [None, ""])
def test_without_a_secret_the_command_does_not_serve(tmp_path: Path, variable: str | None) -> None:
    key = tmp_path / "key.pem"
    key.write_text("a key")
    arguments = ["review", "serve", "--app-id", "1", "--private-key", str(key)]
    done = CliRunner().invoke(app, arguments, env={"TCLINT_WEBHOOK_SECRET": variable})
    assert done.exit_code == 2
    assert "set TCLINT_WEBHOOK_SECRET" in done.stderr


def test_check_runs_instead_of_reviews(
    server: GitHubServer, repository: Repository, tmp_path: Path
) -> None:
    pull = open_pull(server, repository, net(PRINT))
    with running_bot(tmp_path / "state", server, check_run=True) as bot:
        for _ in range(2):
            bot.send(payload(pull.number))
            bot.settle()
    head = repository.git("rev-parse", pull.head)
    (check,) = [check for check in server.runs if check["head_sha"] == head]
    assert [a["start_line"] for a in check["output"]["annotations"]] == [7]
    assert server.bodies(pull.number) == []


def test_a_request_to_end_lets_the_job_at_hand_end(
    server: GitHubServer, repository: Repository, tmp_path: Path
) -> None:
    pull = open_pull(server, repository, net(PRINT))
    server.delay = 0.2
    with running_bot(tmp_path / "state", server) as bot:
        bot.send(payload(pull.number))
        wait_for(lambda: bot.jobs().get("running"))
        code = bot.stop()
    server.delay = 0.0
    # uvicorn ends by the signal that asked for it once everything is shut down.
    assert code in (0, -signal.SIGTERM)
    assert len(server.live(number=pull.number)) == 1


@pytest.mark.parametrize("trouble", [AttributeError("shape"), RuntimeError("nobody foresaw this")])
def test_a_worker_outlives_whatever_a_review_raises(tmp_path: Path, trouble: Exception) -> None:
    class Troubled(Workers):
        def _review(self, job: Job) -> None:
            if job.number == 1:
                raise trouble

    settings = Settings(
        "1", Secret(""), Secret("x"), tmp_path, workers=1, attempts=2, first_delay=0.01
    )
    queue = Queue(tmp_path / "queue.db")
    for number in (1, 2):
        queue.add(f"d-{number}", Job("octo/model", number, 1), time.time())
    workers = Troubled(settings, queue, Metrics())
    workers.start()
    wait_for(lambda: queue.states() == {"failed": 1})
    assert workers.alive
    workers.stop()


def test_a_worker_outlives_a_queue_that_fails(tmp_path: Path) -> None:
    class Full(Queue):
        def claim(self, now: float) -> Job | None:
            claims.append(now)
            if len(claims) == 1:
                raise sqlite3.OperationalError("database or disk is full")
            return super().claim(now)

    claims: list[float] = []
    settings = Settings("1", Secret(""), Secret("x"), tmp_path, workers=1)
    workers = Workers(settings, Full(tmp_path / "queue.db"), Metrics())
    workers.start()
    wait_for(lambda: len(claims) > 1)
    assert workers.alive
    workers.stop()
