"""Values that must not be shown."""

from __future__ import annotations


class Secret:
    """A token or key: no log line, message or traceback that prints it tells what it is."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value itself, for the one place that sends or signs with it."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(***)"
