"""Requests to a forge: patient with limits and failures, and never the same write twice."""

from __future__ import annotations

import functools
import json
import random
import ssl
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import httpx

from tclint.records import record

PER_PAGE: Final = 100
_TOO_MANY: Final = 429
_LIMITED: Final = 60.0
"""Seconds to wait where a limit does not say how long."""

LARGEST: Final = 32 * 2**20
"""Bytes of one answer, unpacked: many times what a page of a hundred files has."""
_GZIP: Final = 16 + zlib.MAX_WBITS
_REPEATABLE: Final = ("GET", "PUT", "PATCH", "DELETE")


class ApiError(Exception):
    """The forge did not do what was asked; the message is for people and holds no secret."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class ForbiddenError(ApiError):
    """The token may not do this."""


class RejectedError(ApiError):
    """The forge understood and refused: a line that is not part of the diff, a comment gone."""


class LaterError(ApiError):
    """Surely not done; the forge takes it in ``wait`` seconds: a limit, or no connection."""

    def __init__(self, message: str, wait: float) -> None:
        super().__init__(message, _TOO_MANY)
        self.wait = wait


class UncertainError(ApiError):
    """A write of which nobody knows whether it was done: look before asking again."""


@record(frozen=True)
class Patience:
    """How often to ask again, and how long (seconds) to wait for it in all at most.

    ``timeout`` (seconds) is for the next bytes of an answer, ``longest_answer`` for the whole.
    """

    tries: int = 5
    first_wait: float = 1.0
    longest_wait: float = 60.0
    timeout: float = 30.0
    longest_answer: float = 60.0


@record(frozen=True)
class _Answer:
    """What came back, whole."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> Any:
        """The content as JSON; None where there is none.

        Raises:
            ValueError: it is no JSON, or too deep to be an answer.
        """
        try:
            return json.loads(self.content) if self.content else None
        except RecursionError as error:
            raise ValueError("too deep") from error


class Client:
    """One forge, seen with one token.

    Requests that can be repeated are, when the forge fails or asks to wait; a POST only where it
    was surely not carried out.
    """

    def __init__(
        self,
        base_url: str,
        headers: Callable[[], Mapping[str, str]],
        patience: Patience | None = None,
        sleep: Callable[[float], object] | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._headers = headers
        self.base_url = base_url.rstrip("/")
        self.patience = patience or Patience()
        self.sleep = sleep or time.sleep
        self._http = httpx.Client(
            base_url=self.base_url,
            timeout=self.patience.timeout,
            transport=transport,
            verify=_trusted(),
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def get(self, path: str, **parameters: str | int) -> Any:
        """What a path holds."""
        return self.request("GET", path, parameters=parameters)

    def pages(self, path: str, most: int = 50, **parameters: str | int) -> Iterator[Any]:
        """The items of all pages, of ``most`` pages."""
        for page in range(1, most + 1):
            items = self.get(path, per_page=PER_PAGE, page=page, **parameters)
            yield from items
            if len(items) < PER_PAGE:
                return

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        parameters: Mapping[str, str | int] | None = None,
        *,
        repeatable: bool | None = None,
    ) -> Any:
        """Ask, and ask again where that does no harm; the answer's JSON, None if it has none.

        Raises:
            ForbiddenError: the token may not do this.
            RejectedError: the request makes no sense to the forge.
            LaterError: the forge asks to wait for longer than the patience lasts.
            UncertainError: a write failed in a way that leaves open whether it was done.
            ApiError: anything else that went wrong.
        """
        again = method in _REPEATABLE if repeatable is None else repeatable
        left = self.patience.longest_wait
        wait = self.patience.first_wait
        for tries_left in reversed(range(self.patience.tries)):
            pause = wait * random.uniform(0.75, 1.25)
            try:
                return self._once(method, path, body, parameters)
            except LaterError as error:
                pause = max(pause, error.wait)
                if not tries_left or pause > left:
                    raise
            except UncertainError:
                if not (again and tries_left) or pause > left:
                    raise
            wait *= 2
            left -= pause
            self.sleep(pause)
        raise AssertionError("the last try returns or raises")

    def _head(self, body: Mapping[str, Any] | None) -> dict[str, str]:
        kind = {} if body is None else {"Content-Type": "application/json"}
        return {**self._headers(), **kind, "Accept-Encoding": "gzip"}

    def _once(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        parameters: Mapping[str, str | int] | None,
    ) -> Any:
        what = f"{method} {path}"
        request = self._http.build_request(
            method, path, content=_encoded(body), params=parameters, headers=self._head(body)
        )
        try:
            answer = self._answer(request)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            # Nothing was sent.
            raise LaterError(f"{what}: {error}", 0.0) from error
        except httpx.HTTPError as error:
            raise UncertainError(f"{what}: {type(error).__name__}") from error
        except _EndlessError as error:
            raise UncertainError(f"{what}: {error}") from error
        if not httpx.codes.is_success(answer.status):
            raise _error(what, answer)
        try:
            return answer.json()
        except ValueError as error:
            raise UncertainError(f"{what}: the answer is not JSON") from error

    def _answer(self, request: httpx.Request) -> _Answer:
        """An answer of bounded size, in bounded time: who answers may be somebody in between.

        Raises:
            _EndlessError: it has neither.
            httpx.HTTPError: there is none.
        """
        end = time.monotonic() + self.patience.longest_answer
        answer = self._http.send(request, stream=True)
        try:
            unpacked = _unpacker(answer.headers.get("content-encoding", ""))
            content = bytearray()
            for part in answer.iter_raw():
                content += unpacked(part, LARGEST + 1 - len(content))
                if len(content) > LARGEST:
                    raise _EndlessError(f"the answer is over {LARGEST >> 20} MB")
                if time.monotonic() > end:
                    seconds = self.patience.longest_answer
                    raise _EndlessError(f"the answer takes longer than {seconds:g} seconds")
            return _Answer(answer.status_code, answer.headers, bytes(content))
        finally:
            answer.close()


class _EndlessError(Exception):
    """An answer that is not read to its end."""


def _unpacker(encoding: str) -> Callable[[bytes, int], bytes]:
    """What unpacks the parts of an answer, to so many bytes at most.

    httpx unpacks a part whole, and some of what it knows packs a gigabyte into one.

    Raises:
        _EndlessError: it is packed in a way that was not asked for.
    """
    if encoding in ("", "identity"):
        return lambda part, most: part
    if encoding != "gzip":
        raise _EndlessError(f"the answer is packed as {encoding!r}, and gzip was asked for")
    packed = zlib.decompressobj(_GZIP)

    def unpacked(part: bytes, most: int) -> bytes:
        try:
            return packed.decompress(part, most)
        except zlib.error as error:
            raise _EndlessError("the answer is not packed as it says") from error

    return unpacked


@functools.cache
def _trusted() -> ssl.SSLContext:
    """The certificates to trust, read once: a service makes a client for each pull request."""
    return httpx.create_ssl_context()


def _encoded(body: Mapping[str, Any] | None) -> bytes | None:
    """JSON in UTF-8, also where a file's name is not: it gets question marks."""
    if body is None:
        return None
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def _error(what: str, answer: _Answer) -> ApiError:
    status = answer.status
    message = f"{what}: {status} {_message(answer)}".rstrip()
    wait = _wait(answer)
    if wait is None and "rate limit" in message.lower():
        wait = _LIMITED
    if status == _TOO_MANY or (status == httpx.codes.FORBIDDEN and wait is not None):
        return LaterError(message, _LIMITED if wait is None else wait)
    if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        return ForbiddenError(message, status)
    if status >= httpx.codes.INTERNAL_SERVER_ERROR:
        return UncertainError(message, status)
    if status in (httpx.codes.BAD_REQUEST, httpx.codes.NOT_FOUND, httpx.codes.UNPROCESSABLE_ENTITY):
        return RejectedError(message, status)
    return ApiError(message, status)


def _wait(answer: _Answer) -> float | None:
    """How long the forge asks to wait, in seconds; None where it does not ask."""
    after = answer.headers.get("retry-after", "")
    if after.isascii() and after.isdigit():
        return float(after)
    reset = answer.headers.get("x-ratelimit-reset", "")
    if answer.headers.get("x-ratelimit-remaining") == "0" and reset.isascii() and reset.isdigit():
        return max(0.0, float(reset) - time.time()) + 1.0
    return None


def _message(answer: _Answer) -> str:
    """What the forge says for people, in one line."""
    try:
        said = answer.json()
    except ValueError:
        return ""
    text = said.get("message") if isinstance(said, dict) else None
    errors = said.get("errors") if isinstance(said, dict) else None
    return " ".join(f"{text or ''} {errors or ''}".split())[:300]
