"""The protocol without pygls's own copies of documents, and with an answer to each request."""

from __future__ import annotations

import logging
import re
from typing import Any, BinaryIO, Final

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol

from tclint.logs import PrintableFormatter

_OURS: Final = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
    types.NOTEBOOK_DOCUMENT_DID_OPEN,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE,
)
_LENGTH: Final = re.compile(rb"Content-Length: (\d+)\r\n\Z")
_MOST_DIGITS: Final = 9
"""Of the length of a message: a gigabyte has ten."""


class Protocol(LanguageServerProtocol):
    """The server's handlers alone see what happens to documents."""

    def _register_builtin_features(self) -> None:
        super()._register_builtin_features()  # type: ignore[no-untyped-call]
        for method in _OURS:
            self.fm.builtin_features.pop(method, None)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Make a message of what came; a request that makes none is refused by its number."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" in data and isinstance(data.get("id"), int | str):
                self._send_response(data["id"], error=error.to_response_error())
            raise


class Input:
    """A stream of messages without the lengths that none has, which pygls would try to read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self) -> bytes:
        """The next line of a head; of what is read instead of one, the head that ends it."""
        line = self._stream.readline()
        found = _LENGTH.search(line)
        if found is None:
            return line
        return found[0] if len(found[1]) <= _MOST_DIGITS else b"\r\n"

    def read(self, size: int) -> bytes:
        """A message."""
        return self._stream.read(size)


def log_surprises_only() -> None:
    """Keep requests that were refused out of pygls's log: the client has the reason."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(PrintableFormatter())
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_surprise)


def _is_surprise(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, JsonRpcException)
