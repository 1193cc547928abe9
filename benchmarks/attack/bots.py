"""A review bot on loopback, with a forge beside it: those that the tests use."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tclint.review.service.signature import sign
from tests.review.bot import SECRET, UNUSED, Bot, running_bot
from tests.review.github_server import GitHubServer
from tests.review_repository import new_repository
from tests.test_review_github import CLEAN, PRINT, net


@dataclass
class Stage:
    """A bot and its forge; ``open`` are connections that slow senders keep."""

    bot: Bot
    forge: GitHubServer
    folder: Path
    pulls: int = 0
    open: list[socket.socket] = field(default_factory=list)
    _told: int = 0

    def send(self, body: bytes, signature: str | None, **headers: str) -> httpx.Response:
        """Deliver a webhook, correctly signed where no signature is given."""
        said = {
            "X-GitHub-Event": "pull_request",
            "X-GitHub-Delivery": f"d-{len(body)}-{self._number()}",
            "X-Hub-Signature-256": sign(SECRET, body) if signature is None else signature,
        } | headers
        coded = {name: value.encode("latin-1", "replace") for name, value in said.items()}
        return httpx.post(
            f"{self.bot.url}/webhook", content=body, headers=coded, timeout=60, verify=UNUSED
        )

    def _number(self) -> int:
        self._told += 1
        return self._told

    def trouble(self, *, shapes: bool = False) -> str | None:
        """What is wrong with the bot now; None if nothing is.

        With ``shapes`` it may log the traceback of an answer of another shape.
        """
        if self.bot.process.poll() is not None:
            return f"the bot has ended: {self.bot.log.read_text()[-1500:]}"
        health = httpx.get(f"{self.bot.url}/healthz", timeout=60, verify=UNUSED)
        if health.status_code != httpx.codes.OK:
            return f"the bot is not well: {health.text}; {self.bot.log.read_text()[-1500:]}"
        log = self.bot.log.read_bytes()
        told = log.count(b"unexpected answer") if shapes else 0
        if log.count(b"Traceback") > told:
            self.bot.log.write_bytes(b"")  # each traceback is told once
            return f"a traceback in the log: {log[-1500:].decode('utf-8', 'replace')}"
        return None

    def memory(self) -> int:
        """The bytes of memory that the bot has in use."""
        status = Path(f"/proc/{self.bot.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) * 1024

    def aftermath(self) -> Iterator[str]:
        """What is wrong when all is sent: reviews that are missing, secrets where none may be."""
        self.bot.settle()
        for number in range(1, self.pulls + 1):
            count = len(self.forge.live(number=number))
            if count != 1:
                yield f"{count} reviews of good delivery {number}"
        for file in self.folder.rglob("*"):
            if file.is_file() and file.suffix != ".pem":
                data = file.read_bytes()
                for secret in (self.forge.token, SECRET.reveal()):
                    if secret.encode() in data:
                        yield f"a secret in {file.name}"


@contextmanager
def forged_ground(folder: Path) -> Iterator[GitHubServer]:
    """A forge with one repository in which a change can be reviewed."""
    folder.mkdir(parents=True)
    repository = new_repository(folder / "repository")
    repository.commit({"net.py": CLEAN})
    repository.git("checkout", "--quiet", "-b", "change")
    repository.commit({"net.py": net(PRINT)})
    forge = GitHubServer({"octo/model": repository}, {})
    with forge.running():
        yield forge


@contextmanager
def staged(folder: Path, between: Callable[[str], str] = lambda url: url) -> Iterator[Stage]:
    """A bot and its forge; every change has one finding, and nothing is fetched.

    ``between`` may put another address before the forge's.
    """
    with forged_ground(folder / "forge") as forge:
        how = {"stub": True, "attempts": 2, "settling": 0.2, "longest_wait": 0.2}
        with running_bot(folder / "bot", forge, api_url=between(forge.url), **how) as bot:
            stage = Stage(bot, forge, folder / "bot")
            try:
                yield stage
            finally:
                for connection in stage.open:
                    connection.close()
