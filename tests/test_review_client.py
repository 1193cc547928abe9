"""Requests to a forge: what is asked again, how long is waited, and what errors say."""

from __future__ import annotations

import gzip
import time
import zlib
from collections.abc import Callable, Iterator

import httpx
import pytest

from tclint.review.client import (
    LARGEST,
    ApiError,
    Client,
    ForbiddenError,
    LaterError,
    Patience,
    RejectedError,
    UncertainError,
)
from tclint.review.secret import Secret


class Forge:
    """Answers in turn, and notes what was asked and how long was waited."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = [*answers]
        self.asked = 0
        self.waited: list[float] = []
        self.client = Client(
            "https://forge.example.com",
            lambda: {"Authorization": f"Bearer {Secret('hush').reveal()}"},
            Patience(tries=3, first_wait=1.0, longest_wait=60.0),
            self.waited.append,
            httpx.MockTransport(self._answer),
        )

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.asked += 1
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return unread(answer)


def unread(answer: httpx.Response) -> httpx.Response:
    """An answer as it comes over a connection: what it holds is still to be read."""
    if answer.is_stream_consumed:
        stream = httpx.ByteStream(answer.content)
        return httpx.Response(answer.status_code, headers=answer.headers, stream=stream)
    return answer


def fails(status: int = 500, message: str = "no", **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, json={"message": message}, headers=named)


def done() -> httpx.Response:
    return httpx.Response(200, json={"done": True})


def test_reading_is_repeated_with_growing_waits() -> None:
    forge = Forge(fails(502), httpx.ReadTimeout("late"), done())
    assert forge.client.get("/x") == {"done": True}
    first, second = forge.waited
    assert 0 < first < second


@pytest.mark.parametrize("trouble", [fails, lambda: httpx.ReadTimeout("late")])
def test_a_post_that_may_have_been_done_is_not_repeated(
    trouble: Callable[[], httpx.Response | Exception],
) -> None:
    forge = Forge(trouble(), done())
    with pytest.raises(UncertainError):
        forge.client.request("POST", "/x", {})
    assert forge.asked == 1


@pytest.mark.parametrize(
    ("refusal", "least"),
    [
        (fails(429, Retry_After="7"), 7),
        (fails(403, Retry_After="9"), 9),
        (httpx.ConnectError("refused"), 0),
    ],
)
def test_a_post_that_was_surely_not_done_is_repeated(
    refusal: httpx.Response | Exception, least: float
) -> None:
    forge = Forge(refusal, done())
    assert forge.client.request("POST", "/x", {}) == {"done": True}
    assert forge.waited[0] >= least


@pytest.mark.parametrize(
    "refusal",
    [
        fails(429, Retry_After="3600"),
        fails(403, X_RateLimit_Remaining="0", X_RateLimit_Reset="99999999999"),
    ],
)
def test_nobody_waits_for_longer_than_the_patience_lasts(refusal: httpx.Response) -> None:
    forge = Forge(refusal)
    with pytest.raises(LaterError) as raised:
        forge.client.get("/x")
    assert raised.value.wait >= 3600
    assert forge.waited == []


def test_a_limit_that_names_no_time_is_waited_for() -> None:
    refusal = fails(403, "You have exceeded a secondary rate limit")
    forge = Forge(refusal, done())
    with pytest.raises(LaterError) as raised:
        Forge(refusal, refusal).client.request("POST", "/x", {})
    assert raised.value.wait == 60
    assert forge.client.get("/x") == {"done": True}


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (fails(401), ForbiddenError),
        (fails(403), ForbiddenError),
        (fails(404), RejectedError),
        (fails(422), RejectedError),
        (fails(418), ApiError),
        (httpx.Response(200, text="<html>"), UncertainError),
    ],
)
def test_errors_name_the_request_and_no_secret(
    answer: httpx.Response, error: type[ApiError]
) -> None:
    with pytest.raises(error) as raised:
        Forge(answer).client.request("POST", "/x/y", {})
    assert "POST /x/y" in str(raised.value)
    assert "hush" not in str(raised.value)
    assert "hush" not in repr(Secret("hush"))


def packed(content: bytes, encoding: str) -> httpx.Response:
    stream = httpx.ByteStream(content)
    return httpx.Response(200, headers={"Content-Encoding": encoding}, stream=stream)


def test_a_packed_answer_is_read() -> None:
    forge = Forge(packed(gzip.compress(b'{"done": true}'), "gzip"))
    assert forge.client.get("/x") == {"done": True}


class Flood(httpx.SyncByteStream):
    """Bytes without end; ``sent`` counts them."""

    def __init__(self, part: bytes, wait: float = 0.0) -> None:
        self.part = part
        self.wait = wait
        self.sent = 0

    def __iter__(self) -> Iterator[bytes]:
        while True:
            self.sent += len(self.part)
            time.sleep(self.wait)
            yield self.part


def test_an_answer_without_end_is_not_read_to_its_end() -> None:
    flood = Flood(b" " * (1 << 20))
    forge = Forge(httpx.Response(200, stream=flood))
    with pytest.raises(UncertainError, match=r"GET /x: the answer is over 32 MB"):
        forge.client.request("GET", "/x", repeatable=False)
    assert flood.sent <= LARGEST + (2 << 20)


def test_a_packed_answer_is_not_unpacked_to_more_than_fits() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packer.compress(b" " * (1 << 20)) for _ in range(2 * LARGEST >> 20)]
    forge = Forge(packed(b"".join(parts) + packer.flush(), "gzip"))
    with pytest.raises(UncertainError, match=r"GET /x: the answer is over 32 MB"):
        forge.client.request("GET", "/x", repeatable=False)


def test_an_answer_that_trickles_is_given_up() -> None:
    forge = Forge(httpx.Response(200, stream=Flood(b" ", wait=0.01)))
    forge.client.patience = Patience(longest_answer=0.1)
    with pytest.raises(UncertainError, match=r"GET /x: the answer takes longer than 0.1 seconds"):
        forge.client.request("GET", "/x", repeatable=False)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (packed(b"x", "zstd"), "packed as 'zstd', and gzip was asked for"),
        (packed(b"no gzip", "gzip"), "not packed as it says"),
        (httpx.Response(200, content=b"[" * 200_000), "the answer is not JSON"),
        (httpx.Response(200, content=b"<html>"), "the answer is not JSON"),
    ],
)
def test_an_answer_that_cannot_be_read_is_one_error(answer: httpx.Response, message: str) -> None:
    with pytest.raises(UncertainError, match=message):
        Forge(answer).client.request("GET", "/x", repeatable=False)
