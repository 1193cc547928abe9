"""The bot on loopback, and webhooks for it."""

from __future__ import annotations

import functools
import json
import os
import signal
import socket
import ssl
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tclint.review.secret import Secret
from tclint.review.service.signature import sign
from tests.forks import Forkable, Forked, everything
from tests.review.github_server import GitHubServer

SECRET = Secret("the webhook's secret")
EXAMPLES = Path(__file__).parent / "webhooks.json"
PATIENCE = 120.0
_BOT = "tests.review.run_bot"
# The bot speaks plain HTTP here; reading the system's certificates for each request takes long.
UNUSED = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def payload(number: int = 1, action: str = "opened", full_name: str = "octo/model") -> bytes:
    """A payload that GitHub once sent, for one of our pull requests."""
    examples = json.loads(EXAMPLES.read_text("utf-8"))
    sent: dict[str, Any] = next(
        e["payload"] for e in examples
        if e["payload"].get("action") == action and "installation" in e["payload"]
    )  # fmt: skip
    sent = {**sent, "number": number, "repository": {**sent["repository"], "full_name": full_name}}
    return json.dumps(sent).encode()


@dataclass
class Bot:
    """A bot in a process of its own."""

    url: str
    process: Forked
    log: Path

    def send(
        self,
        body: bytes,
        *,
        event: str = "pull_request",
        delivery: str = "",
        signature: str | None = None,
    ) -> httpx.Response:
        """Deliver a webhook, correctly signed if nothing else is said."""
        said = {
            "X-GitHub-Event": event,
            "X-GitHub-Delivery": delivery or str(uuid.uuid4()),
            "X-Hub-Signature-256": sign(SECRET, body) if signature is None else signature,
        }
        headers = {name: value.encode("latin-1") for name, value in said.items()}
        return httpx.post(
            f"{self.url}/webhook", content=body, headers=headers, timeout=60, verify=UNUSED
        )

    def jobs(self) -> dict[str, int]:
        """How many jobs there are by state."""
        return dict(httpx.get(f"{self.url}/healthz", timeout=60, verify=UNUSED).json()["jobs"])

    def metrics(self) -> str:
        """The figures."""
        return httpx.get(f"{self.url}/metrics", timeout=60, verify=UNUSED).text

    def settle(self) -> None:
        """Wait until nothing is queued or running, for as long as something gets done."""
        while waiting := self._waiting():
            wait_for(lambda known=waiting: self._waiting() != known)

    def _waiting(self) -> dict[str, int]:
        return {s: count for s, count in self.jobs().items() if s in ("queued", "running")}

    def kill(self) -> None:
        """End it without warning."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """Ask it to end; returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


def wait_for(done: Callable[[], object]) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.05)


@contextmanager
def running_bot(
    folder: Path, server: GitHubServer, *, api_url: str = "", **settings: Any
) -> Iterator[Bot]:
    """A bot that works with a server; a second one in the same folder takes over its queue."""
    folder.mkdir(exist_ok=True)
    key = folder / "key.pem"
    key.write_text(server.private_key)
    port = _free_port()
    config = folder / "bot.json"
    config.write_text(
        json.dumps(
            {
                "port": port,
                "key": str(key),
                "folder": str(folder / "state"),
                "api_url": api_url or server.url,
                "git_url": f"{server.url}/git",
                "settings": settings,
            }
        )
    )
    log = folder / "bot.log"
    with log.open("ab") as stream, Path(os.devnull).open("rb") as nothing:
        streams = (nothing.fileno(), stream.fileno(), stream.fileno())
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        process = _ready().start(_BOT, [str(config)], streams, Path.cwd(), environment)
    bot = Bot(f"http://127.0.0.1:{port}", process, log)
    try:
        wait_for(lambda: _answers(bot))
        yield bot
    finally:
        if process.poll() is None:
            bot.kill()


@functools.cache
def _ready() -> Forkable:
    """A process that has imported all that a bot needs."""
    modules = [_BOT, "uvicorn.lifespan.on", *everything("tclint_rules")]
    return Forkable(modules, os.environ, shared=True)


def _answers(bot: Bot) -> bool:
    assert bot.process.poll() is None, bot.log.read_text()
    try:
        return httpx.get(f"{bot.url}/healthz", timeout=60, verify=UNUSED).status_code == 200
    except httpx.TransportError:
        return False


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
