"""Requests to a forge: what is asked again, how long is waited, and what errors say."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest

from tclint.review.client import (
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
