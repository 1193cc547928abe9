"""Telling the client what went wrong: once, and not with every keystroke."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from lsprotocol import types

from tclint.errors import UserError

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer


class Trouble:
    """What the client was told of, by document, until it is over."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._told: dict[str, str] = {}
        self._warned: set[str] = set()

    def tell(self, about: str, error: BaseException) -> None:
        """One line in the client's log and one notification."""
        self.say(about, described(about, error))

    def say(self, about: str, message: str) -> None:
        """Say something, unless it was the last that was said of this."""
        if self._told.get(about) == message:
            return
        self._told[about] = message
        kind = types.MessageType.Error
        self._server.window_log_message(types.LogMessageParams(kind, message))
        self._server.window_show_message(types.ShowMessageParams(kind, message))

    def warn(self, message: str) -> None:
        """Say once what is no error: something is assumed."""
        if message not in self._warned:
            self._warned.add(message)
            kind = types.MessageType.Warning
            self._server.window_log_message(types.LogMessageParams(kind, message))
            self._server.window_show_message(types.ShowMessageParams(kind, message))

    def over(self, about: str) -> None:
        """The next error is news again."""
        self._told.pop(about, None)


def described(about: str, error: BaseException) -> str:
    """An error in one line; for one that is tclint's own fault, where it happened."""
    if isinstance(error, UserError):
        return f"tclint: {error}"
    message = " ".join(f"{type(error).__name__}: {error}".split())
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return f"tclint crashed on {about}: {message}{place}"
