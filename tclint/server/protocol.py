"""The protocol without pygls's own copies of documents."""

from __future__ import annotations

import logging
from typing import Final

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


class Protocol(LanguageServerProtocol):
    """The server's handlers alone see what happens to documents."""

    def _register_builtin_features(self) -> None:
        super()._register_builtin_features()  # type: ignore[no-untyped-call]
        for method in _OURS:
            self.fm.builtin_features.pop(method, None)


def log_surprises_only() -> None:
    """Keep requests that were refused out of pygls's log: the client has the reason."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(PrintableFormatter())
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_surprise)


def _is_surprise(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, JsonRpcException)
