"""What a connection may do to the bot: be slow, end early, be garbage, be one of very many."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import httpx
import pytest

from tclint.review.service.protocol import at_once
from tclint.review.service.signature import sign
from tests.review.bot import PATIENCE, SECRET, UNUSED, Bot, payload, running_bot, wait_for
from tests.review.github_server import GitHubServer
from tests.review_repository import new_repository
from tests.test_review_github import CLEAN

AT_ONCE = 40
POST = b"POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"
CHUNKED = b"POST /webhook HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(scope="module")
def bot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bot]:
    """A bot with little patience; whatever was done to it, it has not lost its own."""
    repository = new_repository(tmp_path_factory.mktemp("connections") / "repo")
    repository.commit({"net.py": CLEAN})
    server = GitHubServer({"octo/model": repository}, {})
    settings = {"stub": True, "waits": (1.0, 2.0, 3.0, 1, 0.2), "at_once": AT_ONCE}
    with (
        server.running(),
        running_bot(tmp_path_factory.mktemp("state"), server, **settings) as bot,
    ):
        yield bot
        with dial(bot) as line:
            line.sendall(POST)
            bot.stop()
            assert said(line).startswith(b"HTTP/1.1 503")
        log = bot.log.read_text("utf-8")
        assert "Traceback" not in log
        assert "Exception" not in log


def dial(bot: Bot) -> socket.socket:
    """A connection to the bot."""
    host, port = bot.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE)


def said(line: socket.socket) -> bytes:
    """All that the bot says until it hangs up."""
    heard = b""
    with suppress(ConnectionError):
        while part := line.recv(65536):
            heard += part
    return heard


def ask(bot: Bot, *parts: bytes) -> bytes:
    """Send something, and listen until the bot hangs up."""
    with dial(bot) as line:
        with suppress(ConnectionError):
            for part in parts:
                line.sendall(part)
        return said(line)


@pytest.mark.slow
def test_headers_and_bodies_that_do_not_come_are_not_waited_for(bot: Bot) -> None:
    assert ask(bot, b"") == b""
    assert ask(bot, b"GET /heal") == b""
    assert ask(bot, HEALTH, b"GET /heal").startswith(b"HTTP/1.1 200")
    assert ask(bot, POST, b"{").startswith(b"HTTP/1.1 408")
    assert ask(bot, CHUNKED, b"1\r\n{\r\n").startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize("start", [b"GET /healthz HTTP/1.1\r\nX: ", POST])
def test_a_byte_now_and_then_does_not_keep_a_connection(bot: Bot, start: bytes) -> None:
    end = time.monotonic() + PATIENCE
    with dial(bot) as line:
        line.sendall(start)
        with pytest.raises(ConnectionError):
            while time.monotonic() < end:
                line.sendall(b"x")
                time.sleep(0.1)


def test_a_body_that_goes_on_after_the_answer_is_cut(bot: Bot) -> None:
    head = b"POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n"
    end = time.monotonic() + PATIENCE
    with dial(bot) as line:
        line.sendall(head)
        with pytest.raises(ConnectionError):
            while time.monotonic() < end:
                line.sendall(b"x" * 1000)
                time.sleep(0.1)


def test_an_upload_that_is_broken_off_is_no_error(bot: Bot) -> None:
    for sent in (POST, POST + b"{", CHUNKED + b"5\r\nab", POST[:30]):
        with dial(bot) as line:
            line.sendall(sent)
    wait_for(lambda: 'outcome="aborted"' in bot.metrics())


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 200,
        b"\r\n\r\n\r\n\r\nxx\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nA\0: b\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nA: " + b"b" * 100_000,
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 20_000,
        POST.replace(b"100", b"-1"),
        POST.replace(b"100", b"\xb2"),
        POST.replace(b"100", b"9" * 30),
        POST.replace(b"100\r\n", b"5\r\nContent-Length: 6\r\n"),
        CHUNKED + b"zz\r\n",
        CHUNKED + b"FFFFFFFFFFFFFFFFFF\r\n",
        CHUNKED + b"-5\r\n",
        CHUNKED.replace(b"chunked", b"gzip, chunked"),
        HEALTH + b"\0\0\0\0\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_garbage_is_answered_with_a_refusal_or_with_nothing(bot: Bot, garbage: bytes) -> None:
    heard = ask(bot, garbage)
    assert b"500" not in heard.split(b"\r\n")[0]
    assert not heard or heard.startswith(b"HTTP/1.1 ")


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"GET /healthz HTTP/1.0", b"200"),
        (b"HEAD /healthz HTTP/1.1", b"200"),
        (b"OPTIONS * HTTP/1.1", b"404"),
        (b"OPTIONS /webhook HTTP/1.1", b"405"),
        (b"HEAD /webhook HTTP/1.1", b"405"),
        (b"DELETE /healthz HTTP/1.1", b"405"),
        (b"CONNECT x:1 HTTP/1.1", b"404"),
        (b"GET http://elsewhere/healthz HTTP/1.1", b"404"),
        (b"GET /../../etc/passwd HTTP/1.1", b"404"),
        (b"GET /%2e%2e/healthz HTTP/1.1", b"404"),
        (b"GET //healthz HTTP/1.1", b"404"),
        (b"GET /healthz%00 HTTP/1.1", b"404"),
        (b"GET /%ff%fe HTTP/1.1", b"404"),
        (b"GET /healthz?" + b"a=b&" * 1000 + b" HTTP/1.1", b"200"),
    ],
)
def test_only_what_is_there_is_served(bot: Bot, request_line: bytes, status: bytes) -> None:
    heard = ask(bot, request_line + b"\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert heard.split(b" ")[1] == status


def test_an_upgrade_is_not_taken(bot: Bot) -> None:
    upgrade = b"Connection: upgrade\r\nUpgrade: websocket\r\n\r\n"
    assert ask(bot, HEALTH[:-2] + upgrade).startswith(b"HTTP/1.1 200")


def test_requests_in_one_piece_are_answered_in_their_order(bot: Bot) -> None:
    last = HEALTH[:-2] + b"Connection: close\r\n\r\n"
    heard = ask(bot, (HEALTH + HEALTH.replace(b"healthz", b"nowhere")) * 20 + last)
    statuses = [part.split(b" ")[0] for part in heard.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"200", b"404"] * 20 + [b"200"]


def test_a_body_in_many_chunks_is_a_body(bot: Bot) -> None:
    body = payload(action="closed")
    headers = (
        f"X-GitHub-Event: pull_request\r\nX-GitHub-Delivery: c-1\r\n"
        f"X-Hub-Signature-256: {sign(SECRET, body)}\r\nConnection: close\r\n\r\n"
    )
    chunks = [b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:7], body[7:99], body[99:])]
    heard = ask(bot, CHUNKED[:-2] + headers.encode(), *chunks, b"0\r\n\r\n")
    assert heard.startswith(b"HTTP/1.1 200")
    assert b"ignored" in heard


def test_headers_are_bytes_of_any_kind(bot: Bot) -> None:
    body = payload()
    for name in ("X-GitHub-Delivery", "X-GitHub-Event", "X-Hub-Signature-256"):
        headers = {
            "X-GitHub-Event": b"pull_request",
            "X-GitHub-Delivery": b"h-1",
            "X-Hub-Signature-256": sign(SECRET, body).encode(),
            name: b"\xe9\xff\xb2",
        }
        given = {"content": body, "headers": headers, "verify": UNUSED}
        answer = httpx.post(f"{bot.url}/webhook", timeout=60, **given)
        assert answer.status_code in {200, 400, 401}


def test_more_connections_than_there_may_be_are_cut_and_the_others_served(bot: Bot) -> None:
    with ExitStack() as stack:
        lines = [stack.enter_context(dial(bot)) for _ in range(5 * AT_ONCE)]
        with ThreadPoolExecutor(5 * AT_ONCE) as pool:
            assert set(pool.map(said, lines)) == {b""}
    assert bot.jobs() is not None


def test_bodies_together_have_a_limit(bot: Bot) -> None:
    # Each may be as long as it is; those of strangers are not kept until all have come.
    part = b"x" * 900_000
    head = POST.replace(b"100", b"1000000")
    with ExitStack() as stack:
        lines = [stack.enter_context(dial(bot)) for _ in range(AT_ONCE - 2)]
        for line in lines:
            with suppress(ConnectionError):
                line.sendall(head + part)
        for line in lines:
            assert said(line).split(b" ")[1] in {b"408", b"503"}
    assert bot.send(payload(action="closed")).json() == {"status": "ignored"}


def test_half_of_the_files_are_for_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    for files, connections in (
        (1024, 512),
        (1 << 20, 1000),
        (1, 1),
        (resource.RLIM_INFINITY, 1000),
    ):
        monkeypatch.setattr(resource, "getrlimit", lambda _, soft=files: (soft, soft))
        assert at_once() == connections
