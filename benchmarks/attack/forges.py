"""Forges that give false or slow answers to ``tclint review``, which must end all the same.

Between the review and its forge stands a liar that falsifies one answer, or all: other JSON, no
JSON, too much, too deep, packed a thousandfold, cut off, drop by drop, redirected, with limits in
the far future. Promised: the review ends in time, done or with one error, within little memory, no
token is printed or goes to another address, nothing is posted twice, and the next review brings the
change up to date. Failures are the opposite, and tracebacks.
"""

from __future__ import annotations

import contextlib
import json
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

import httpx

from benchmarks.attack.caches import change
from benchmarks.attack.command import Done, complaints, ran, words
from benchmarks.attack.kind import Kind, Slice, Tried
from tests.review.command import write_event
from tests.review.github_server import GitHubServer, Pull
from tests.review_repository import Repository, new_repository
from tests.test_review_github import CLEAN, PRINT, net

UNUSED = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""The forge speaks plain HTTP here; reading the system's certificates each time takes long."""
REQUESTS = 8
"""About as many as one review asks."""
SECONDS = 600
"""Longer than five tries of a minute each, with the waits between them."""
MEMORY = 1 << 30
"""Of addresses: a flood does not fit."""
DRIP = 100
FLOOD = 1 << 30


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back to the review."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


Lie = Callable[["Handler", Answer, Random], None]


class Handler(BaseHTTPRequestHandler):
    """Asks the forge, and passes its answer on, or a lie about it."""

    protocol_version = "HTTP/1.1"
    server: Liar

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Say nothing."""

    def _any(self) -> None:
        length = int(self.headers.get("content-length", 0))
        body = self.rfile.read(length)
        if "thief" in self.path:
            self.server.stolen |= "authorization" in self.headers
            self.say(Answer(200, b"{}"))
            return
        kept = {n: v for n, v in self.headers.items() if n.lower() not in ("host", "connection")}
        url = self.server.forge_url + self.path
        given = {"content": body, "headers": kept, "verify": UNUSED}
        real = httpx.request(self.command, url, timeout=60, **given)
        answer = Answer(real.status_code, real.content, {"Content-Type": "application/json"})
        lie = self.server.next_lie()
        with contextlib.suppress(OSError):  # the review has had enough
            if lie is None:
                self.say(answer)
            else:
                lie(self, answer, self.server.chance)
        self.close_connection = lie is not None

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _any  # noqa: N815

    def say(self, answer: Answer, length: int | None = None) -> None:
        """Send an answer, with its length or another."""
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        size = len(answer.body) if length is None else length
        self.send_header("Content-Length", str(size))
        self.end_headers()
        self.wfile.write(answer.body)


class Liar(ThreadingHTTPServer):
    """Stands between the review and its forge."""

    daemon_threads = True

    def __init__(self, forge_url: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.forge_url = forge_url
        self.chance = Random(0)
        self.stolen = False
        self._plan: tuple[Lie, int, bool] | None = None
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """The address."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def arm(self, lie: Lie | None, after: int, chance: Random, *, always: bool) -> None:
        """Lie after some true answers: once, or from then on."""
        with self._lock:
            self.chance = chance
            self._plan = None if lie is None else (lie, after, always)

    def next_lie(self) -> Lie | None:
        """The lie about the answer at hand."""
        with self._lock:
            if self._plan is None:
                return None
            lie, after, always = self._plan
            if after > 0:
                self._plan = (lie, after - 1, always)
                return None
            if not always:
                self._plan = None
            return lie


def other_json(handler: Handler, answer: Answer, chance: Random) -> None:
    """Something odd in a place or more."""
    said = json.loads(answer.body or b"{}")
    if isinstance(said, dict | list) and said:
        for _ in range(chance.choice((1, 3, 40))):
            with contextlib.suppress(IndexError):  # nothing is left to change
                change(said, chance)
    else:
        said = {"id": "x"}
    handler.say(Answer(answer.status, json.dumps(said).encode(), answer.headers))


def other_type(handler: Handler, answer: Answer, chance: Random) -> None:
    """JSON of another type altogether, or what is no JSON."""
    bodies = (b"", b"null", b"[]", b"{}", b"1", b'"x"', b"<html>", b"\xff\xfe", b"[[[]]]",
              b"[null]", b"NaN", b"9" * 9_000, b"[" * 200_000, b'{"a":' * 50_000)  # fmt: skip
    handler.say(Answer(answer.status, chance.choice(bodies), answer.headers))


def other_status(handler: Handler, answer: Answer, chance: Random) -> None:
    """The answer under another status."""
    status = chance.choice((200, 201, 204, 206, 301, 400, 401, 403, 404, 409, 418, 422, 500, 503))
    handler.say(Answer(status, b"" if status == 204 else answer.body, answer.headers))


def limits(handler: Handler, answer: Answer, chance: Random) -> None:
    """Limits that end in the far future, in the past, or never."""
    name = chance.choice(("Retry-After", "X-RateLimit-Reset"))
    value = chance.choice(("0", "-1", "1e9", "9" * 18, "9" * 400, "soon", "\u0663".encode().hex()))
    headers = {name: value, "X-RateLimit-Remaining": "0"}
    handler.say(Answer(chance.choice((403, 429, 503)), b"{}", headers))


def redirect(handler: Handler, answer: Answer, chance: Random) -> None:
    """Another address, which wants the token."""
    there = f"http://localhost:{handler.server.server_address[1]}/thief"
    handler.say(Answer(chance.choice((301, 302, 307, 308)), b"", {"Location": there}))


def cut_off(handler: Handler, answer: Answer, chance: Random) -> None:
    """Less than was said, or more."""
    handler.say(answer, length=chance.choice((0, 1, len(answer.body) // 2, len(answer.body) + 999)))


def no_answer(handler: Handler, answer: Answer, chance: Random) -> None:
    """Bytes that are no HTTP, or none at all."""
    handler.wfile.write(chance.choice((b"", b"HTTP/9.9 x\r\n\r\n", b"\x00" * 9_000, b"x" * 70_000)))


def flood(handler: Handler, answer: Answer, chance: Random) -> None:
    """A gigabyte."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(FLOOD))
    handler.end_headers()
    for _ in range(FLOOD >> 20):
        handler.wfile.write(b" " * (1 << 20))


def packed(handler: Handler, answer: Answer, chance: Random) -> None:
    """A gigabyte that packs well."""
    handler.say(Answer(200, bomb(), {"Content-Encoding": "gzip"}))


@cache
def bomb() -> bytes:
    """A gigabyte of blanks; to pack it takes seconds."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packer.compress(b" " * (1 << 20)) for _ in range(FLOOD >> 20)]
    return b"".join(parts) + packer.flush()


def drop_by_drop(handler: Handler, answer: Answer, chance: Random) -> None:
    """A byte now and then: no single wait is long."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    for _ in range(DRIP * 2):
        handler.wfile.write(b" ")
        time.sleep(0.5)


LIES: tuple[Lie, ...] = (
    *(other_json, other_json, other_type, other_json, other_status, limits, redirect, cut_off),
    *(other_json, other_json, other_type, other_json, no_answer, limits, other_status, cut_off),
    *(other_json, other_type, flood, packed),
)
DAWDLES = 40
"""One input of so many is answered drop by drop; they take long."""


def tried(part: Slice) -> Iterator[Tried]:
    """Lie to a review, and tell the truth to the next one."""
    with staged(part.folder) as stage:
        for number in part.numbers:
            lie = drop_by_drop if number % DAWDLES == DAWDLES - 1 else LIES[number % len(LIES)]
            failure = None
            try:
                lied(stage, lie, part.chance(number))
            except AssertionError as error:
                failure = str(error)
            yield Tried(number, lie.__name__.replace("_", " "), failure)


def lied(stage: Stage, lie: Lie, chance: Random) -> None:
    """One review whose answers are false, and a good one of the same change.

    Raises:
        AssertionError: something is not as promised.
    """
    stage.pulls += 1
    stage.forge.pulls["octo/model", stage.pulls] = Pull(stage.pulls)
    stage.liar.arm(lie, chance.randrange(REQUESTS), chance, always=chance.random() < 0.3)
    false = reviewed(stage)
    stage.liar.arm(None, 0, chance, always=False)
    assert not stage.liar.stolen, "the token went to another address"
    assert stage.forge.token.encode() not in false.printed, "the token is printed"
    assert not [*complaints(false)], [*complaints(false)]
    assert len(stage.forge.live(number=stage.pulls)) <= 1, "reviewed twice"
    good = reviewed(stage)
    assert good.code == 1, f"the next review fails: {words(good.err)}"
    assert len(stage.forge.live(number=stage.pulls)) == 1, "the next review posts twice"


def reviewed(stage: Stage) -> Done:
    """The review that a CI job makes of the newest change."""
    event = write_event(stage.folder, stage.repository, stage.pulls)
    environment = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": stage.liar.url,
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_TOKEN": stage.forge.token,
    }
    folder = stage.repository.folder
    return ran("review", folder=folder, environment=environment, memory=MEMORY, seconds=SECONDS)


@dataclass
class Stage:
    """A repository on a forge with changes that have one finding each, and the liar before it."""

    folder: Path
    repository: Repository
    forge: GitHubServer
    liar: Liar
    pulls: int = 0


@contextmanager
def staged(folder: Path) -> Iterator[Stage]:
    """A stage in an empty folder."""
    repository = new_repository(folder / "repository")
    repository.commit({"net.py": CLEAN})
    repository.git("checkout", "--quiet", "-b", "change")
    repository.commit({"net.py": net(PRINT)})
    forge = GitHubServer({"octo/model": repository}, {}, login="reviewer")
    with forge.running():
        liar = Liar(forge.url)
        threading.Thread(target=liar.serve_forever, daemon=True).start()
        yield Stage(folder, repository, forge, liar)
        liar.shutdown()


KIND = Kind("forges", DAWDLES, 4, tried)
