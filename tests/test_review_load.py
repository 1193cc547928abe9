"""The bot under load and under the knife: no webhook is lost, no comment comes twice."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.review.bot import Bot, payload, running_bot, wait_for
from tests.review.github_server import GitHubServer, Pull
from tests.review_repository import Repository, new_repository
from tests.test_review_github import CLEAN, PRINT, net

pytestmark = pytest.mark.slow


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = new_repository(tmp_path / "repo")
    repository.commit({"net.py": CLEAN})
    repository.git("checkout", "--quiet", "-b", "change")
    repository.commit({"net.py": net(PRINT)})
    return repository


@pytest.fixture
def server(repository: Repository) -> Iterator[GitHubServer]:
    pulls = {("octo/model", number): Pull(number) for number in range(1, 201)}
    server = GitHubServer({"octo/model": repository}, pulls)
    with server.running():
        yield server
    assert server.complaints == []


def once_each(server: GitHubServer, pulls: int) -> bool:
    """Whether every pull request has one review with one comment."""
    wanted = Counter(dict.fromkeys(range(1, pulls + 1), 1))
    return (
        Counter(review["number"] for review in server.reviews) == wanted
        and Counter(comment["number"] for comment in server.comments) == wanted
    )


def memory(bot: Bot) -> int:
    """The largest resident set of the bot so far, in KiB."""
    status = Path(f"/proc/{bot.process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


@pytest.mark.slow(20)
def test_two_hundred_webhooks_at_once_and_a_slow_interface(
    server: GitHubServer, tmp_path: Path
) -> None:
    server.delay = 0.1
    with running_bot(tmp_path / "bot", server, stub=True, workers=8) as bot:
        bot.send(payload(1))
        bot.settle()
        before = memory(bot)
        with ThreadPoolExecutor(50) as senders:
            answers = [*senders.map(lambda n: bot.send(payload(n)), range(1, 201))]
        assert {answer.status_code for answer in answers} == {202}
        bot.settle()
        assert once_each(server, 200)
        assert memory(bot) - before < 64 * 1024


def test_two_hundred_webhooks_for_one_pull_request_become_few_reviews(
    server: GitHubServer, tmp_path: Path
) -> None:
    with running_bot(tmp_path / "bot", server, stub=True) as bot:
        with ThreadPoolExecutor(50) as senders:
            answers = [*senders.map(lambda _: bot.send(payload(1)), range(200))]
        assert {answer.status_code for answer in answers} == {202}
        bot.settle()
    assert once_each(server, 1)
    assert sum(line.endswith("/files") for line in server.requests) < 200


@pytest.mark.slow(30)
def test_killed_while_posting_again_and_again(server: GitHubServer, tmp_path: Path) -> None:
    """The request that is on its way when the bot dies still takes effect, later."""
    server.delay = 0.3
    pulls, kills = 24, 6
    arrived = threading.Event()

    def before(method: str, path: str) -> None:
        if method == "POST" and path.endswith("/reviews"):
            arrived.set()

    server.before = before
    sent = iter(range(1, pulls + 1))
    for _ in range(kills):
        with running_bot(tmp_path / "bot", server, stub=True, workers=3) as bot:
            for number in (next(sent) for _ in range(pulls // kills)):
                assert bot.send(payload(number)).status_code == 202
            arrived.clear()
            arrived.wait(30)
            bot.kill()
    with running_bot(tmp_path / "bot", server, stub=True, workers=3) as bot:
        bot.settle()
    assert once_each(server, pulls)


def test_killed_in_the_midst_of_real_analyses(server: GitHubServer, tmp_path: Path) -> None:
    for _ in range(2):
        with running_bot(tmp_path / "bot", server) as bot:
            for number in range(1, 5):
                bot.send(payload(number))
            wait_for(lambda: bot.jobs().get("running"))
            bot.kill()
    with running_bot(tmp_path / "bot", server) as bot:
        bot.settle()
        bot.stop()
    assert not (tmp_path / "bot" / "state" / "scratch").exists()
    assert once_each(server, 4)
