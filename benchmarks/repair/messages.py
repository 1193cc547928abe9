"""What a call logs and warns (child only)."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class _Sink(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(f"{record.name} {record.levelname}: {record.getMessage()}")


def messages_of(call: Callable[[], T], library: str = "transformers") -> tuple[T, list[str]]:
    """The result of ``call`` with the log records and warnings on the way, in their order."""
    sink, logger = _Sink(), logging.getLogger(library)
    level = logger.level
    _forget(sys.modules.get(f"{library}.utils.logging"))
    logger.addHandler(sink)
    logger.setLevel(logging.WARNING)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = call()
    finally:
        logger.setLevel(level)
        logger.removeHandler(sink)
    return result, sink.texts + [f"{one.category.__name__}: {one.message}" for one in caught]


def _forget(module: Any) -> None:
    """Let messages that are given only once be given again."""
    for value in vars(module).values() if module is not None else ():
        if hasattr(value, "cache_clear"):
            value.cache_clear()
