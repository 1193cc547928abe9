"""What an editor sends that no editor would send: the server goes on, and answers each request."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest

from benchmarks.attack import garbage
from tclint.server.protocol import Input

BODY = b'{"jsonrpc": "2.0"}'
MESSAGE = b"Content-Length: 18\r\n\r\n" + BODY


def messages(data: bytes) -> list[bytes]:
    """What a server reads, in the way that pygls does."""
    stream, found, length = Input(io.BytesIO(data)), [], 0
    while line := stream.readline():
        head, _, value = line.partition(b": ")
        if head == b"Content-Length" and not length:
            length = int(value)
        if length and not line.strip():
            found.append(stream.read(length))
            length = 0
    return found


@pytest.mark.parametrize("digits", [10, 12, 20, 23, 1_000, 5_000, 100_000])
@pytest.mark.parametrize("rest", [b"", b"{}", BODY, b"x" * 5_000, b"\r\n\r\n", b"a: b\r\n"])
def test_a_length_that_no_message_has_costs_only_itself(digits: int, rest: bytes) -> None:
    bad = b"Content-Length: " + b"9" * digits + b"\r\n\r\n" + rest
    assert messages(MESSAGE + bad + MESSAGE + MESSAGE) == [BODY] * 3
    assert messages(bad * 3 + MESSAGE) == [BODY]


def test_what_editors_send_is_read_as_it_is() -> None:
    typed = b"Content-Length: 18\r\nContent-Type: x; charset=utf-8\r\n\r\n" + BODY
    assert messages(MESSAGE + typed + MESSAGE) == [BODY] * 3


@pytest.mark.slow(seconds=10)
@pytest.mark.parametrize("sort", [garbage.lengths, garbage.places], ids=lambda sort: sort.__name__)
def test_a_server_goes_on_and_answers(tmp_path: Path, sort: object) -> None:
    server, usual = garbage.started(tmp_path / "server")
    try:
        for number in range(12):
            sort(server, random.Random(number))  # type: ignore[operator]
            assert server.findings() == usual
    finally:
        assert server.end() is not None
