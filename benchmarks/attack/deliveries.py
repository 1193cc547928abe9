"""Deliveries to the review bot: garbage, false, truncated and slow ones, signed and unsigned.

Anybody can send to the bot's address; only the forge can sign. Promised: what is not signed is
answered with 401 (or refused sooner, for its form) and read no further; signed nonsense is refused
as the sender's mistake; no delivery makes the bot fail (a status from 500 on, a traceback, threads
that end), grow without bound, or stop answering others in time; and a good delivery among them is
reviewed. Failures are the opposite, and secrets in the bot's log or folder. Slow senders keep their
connections open through all the other deliveries of a slice.
"""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Callable, Iterator
from random import Random
from typing import Any
from urllib.parse import urlsplit

import httpx

from benchmarks.attack.bots import Stage, staged
from benchmarks.attack.caches import change
from benchmarks.attack.kind import Kind, Slice, Tried
from benchmarks.attack.mutate import mutated
from tclint.review.service.signature import sign
from tests.review.bot import SECRET, UNUSED, payload
from tests.review.github_server import Pull

REFUSED = range(400, 500)
UNSIGNED = ("", "sha256=", "sha256=" + "0" * 64, "sha1=" + "0" * 40, "sha256=\xe9" * 9, "x" * 9_000)
GROWTH = 128 << 20
"""Bytes by which a bot may grow over a slice."""
Sort = Callable[[Stage, Random], str]


def tried(part: Slice) -> Iterator[Tried]:
    """Send deliveries to one bot, and a good one at the end."""
    with staged(part.folder) as stage:
        before = stage.memory()
        for number in part.numbers:
            sort = SORTS[number % len(SORTS)]
            seen: tuple[str, ...] = (sort.__name__.replace("_", " "),)
            try:
                answered = sort(stage, part.chance(number))
                failure = stage.trouble()
                seen = (*seen, f"answered {answered}") if answered else seen
            except (AssertionError, httpx.HTTPError) as error:
                failure = f"{type(error).__name__}: {error}; {stage.trouble()}"
            yield Tried(number, sort.__name__, failure, seen)
        last = [*stage.aftermath()]
        if stage.memory() - before > GROWTH:
            last.append(f"the bot has grown by {stage.memory() - before:,} bytes")
    if last:
        yield Tried(part.numbers[-1], "after all of the slice", "\n".join(last))


def sent(stage: Stage, body: bytes, signature: str | None = None, **headers: str) -> int:
    """Deliver, and make sure of the answer; the answer's status."""
    answer = stage.send(body, signature, **headers)
    assert answer.status_code < 500, f"{answer.status_code} for {body[:300]!r} and {headers}"
    if signature is not None:
        assert answer.status_code in REFUSED, f"taken without a signature: {body[:300]!r}"
    return answer.status_code


def unsigned(stage: Stage, chance: Random) -> str:
    """A good payload, or a bad one, without a signature that holds."""
    body = payload() if chance.random() < 0.5 else chance.randbytes(chance.randrange(3_000))
    before = sum(stage.bot.jobs().values())  # those that were signed may end meanwhile
    status = sent(stage, body, chance.choice(UNSIGNED))
    assert sum(stage.bot.jobs().values()) <= before, "an unsigned delivery was taken"
    return str(status)


def garbage(stage: Stage, chance: Random) -> str:
    """Bytes that are no payload, signed."""
    body = chance.choice(
        (
            chance.randbytes(chance.randrange(9_000)),
            mutated(payload(), payload(action="synchronize"), chance),
            b"[" * chance.randrange(200_000),
            b'{"a":' * 50_000,
            b'{"number": ' + b"9" * chance.choice((30, 5_000, 900_000)) + b"}",
            json.dumps(chance.choice((None, 1, "x", [], {}, [{}], 1e308))).encode(),
            b"\xff\xfe" + payload().decode().encode("utf-16-le"),
            b"",
            b" " * 2_000_000,
        )
    )
    return str(sent(stage, body))


def lies(stage: Stage, chance: Random) -> str:
    """A payload with something odd in a place or two, signed."""
    return str(sent(stage, encoded(lying(chance))))


def lies_where_it_counts(stage: Stage, chance: Random) -> str:
    """A payload with something odd in what the bot reads, signed."""
    said = json.loads(payload())
    value = chance.choice(
        (2**31, 2**53, 2**63, 2**70, -1, 0, 1.5, True, None, "", "1", [], {}, "../..", "a/..",
         "-c/x", "a/b\n", "a/b/c", "\ud800/x", "x" * 300_000, "é/ü", ".git/config", "a/b.git")
    )  # fmt: skip
    match chance.randrange(4):
        case 0:
            said["number"] = value
        case 1:
            said["installation"] = chance.choice(({"id": value}, value, {}, [value]))
        case 2:
            said["repository"] = chance.choice(({"full_name": value}, value, {}, [value]))
        case _:
            said["action"] = value
    return str(sent(stage, encoded(said)))


def odd_headers(stage: Stage, chance: Random) -> str:
    """A good payload under odd names, signed."""
    odd = chance.choice(("", "\xe9", "x" * 20_000, "a b", "'; drop table jobs; --", "../../x"))
    name = chance.choice(("X-GitHub-Event", "X-GitHub-Delivery", "Content-Type", "Host"))
    try:
        return str(sent(stage, payload(999), None, **{name: odd}))
    except httpx.LocalProtocolError:
        return "unsendable"


def other_requests(stage: Stage, chance: Random) -> str:
    """Other methods and paths."""
    method = chance.choice(("GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "POST"))
    path = chance.choice(
        ("/webhook", "/healthz", "/metrics", "/", "//", "/../state/queue.db", "/webhook/%2e%2e/x",
         "/webhook?" + "a=b&" * 5_000, "/%00", "/" + "x" * 30_000)
    )  # fmt: skip
    answer = httpx.request(method, stage.bot.url + path, timeout=60, verify=UNUSED)
    assert answer.status_code < 500, f"{answer.status_code} for {method} {path[:80]}"
    return str(answer.status_code)


def not_http(stage: Stage, chance: Random) -> str:
    """Bytes that are no request, or one and a half."""
    head = b"POST /webhook HTTP/1.1\r\nHost: x\r\n"
    data = chance.choice(
        (
            chance.randbytes(chance.randrange(1, 9_000)),
            head + b"Content-Length: -5\r\n\r\n",
            head + b"Content-Length: 99999999999999999999\r\n\r\nx",
            head + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nxxxxxx",
            head
            + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\nGET /x HTTP/1.1",
            head + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx",
            head + b"X: " + b"x" * 200_000 + b"\r\n\r\n",
            head + b"".join(b"X-%d: y\r\n" % n for n in range(5_000)) + b"\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + chance.randbytes(400),
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        )
    )
    with connected(stage) as connection, contextlib.suppress(OSError):
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(64)
        assert not answer.startswith(b"HTTP/1.1 5"), f"{answer!r} for {data[:200]!r}"
    return ""


def given_up(stage: Stage, chance: Random) -> str:
    """A signed delivery whose sender goes away in the middle."""
    body = payload()
    with connected(stage) as connection:
        connection.sendall(head_of(body) + body[: chance.randrange(len(body))])
        if chance.random() < 0.5:  # the connection is reset, not closed
            linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    return ""


def slow(stage: Stage, chance: Random) -> str:
    """A sender that says a little and no more, and stays."""
    body = payload()
    connection = connected(stage)
    whole = head_of(body) + body
    connection.sendall(whole[: chance.choice((1, 20, len(whole) - 100))])
    stage.open.append(connection)
    return ""


def good(stage: Stage, chance: Random) -> str:
    """A delivery as it should be: it must be reviewed."""
    stage.pulls += 1
    stage.forge.pulls["octo/model", stage.pulls] = Pull(stage.pulls)
    answer = stage.send(payload(stage.pulls), None)
    assert answer.status_code == httpx.codes.ACCEPTED, answer.status_code
    return "202"


def lying(chance: Random) -> Any:
    """A payload in which something is odd."""
    said = json.loads(payload(chance.randrange(900, 999)))
    for _ in range(chance.choice((1, 2, 9))):
        change(said, chance)
    return said


def encoded(said: Any) -> bytes:
    """JSON, also of what UTF-8 cannot say."""
    return json.dumps(said).encode()


def head_of(body: bytes) -> bytes:
    """The head of a delivery that is signed as it should be."""
    return (
        f"POST /webhook HTTP/1.1\r\nHost: x\r\nX-GitHub-Event: pull_request\r\n"
        f"X-GitHub-Delivery: slow-{len(body)}\r\nX-Hub-Signature-256: {sign(SECRET, body)}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()


def connected(stage: Stage) -> socket.socket:
    """A connection to the bot."""
    port = urlsplit(stage.bot.url).port
    return socket.create_connection(("127.0.0.1", port or 0), timeout=60)


SORTS: tuple[Sort, ...] = (
    unsigned, garbage, lies, lies_where_it_counts, lies_where_it_counts, odd_headers,
    other_requests, not_http, given_up, slow,
    unsigned, garbage, lies, lies_where_it_counts, lies, garbage, not_http, given_up, slow, good,
)  # fmt: skip
KIND = Kind("deliveries", 500, 100, tried)
