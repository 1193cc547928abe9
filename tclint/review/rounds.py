"""Writes to a forge whose answers may get lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from tclint.review.client import Client, UncertainError

ROUNDS: Final = 3
SETTLING: Final = 15.0
"""Seconds after which a request that a forge has not answered is done or dead."""

T = TypeVar("T")


def until_certain(client: Client, settling: float, look_and_act: Callable[[], T]) -> T:
    """Look at what is there and do what is missing, until no answer is missing.

    A write whose outcome is unknown is followed by another look, never by the same write.

    Raises:
        UncertainError: answers keep getting lost.
    """
    for rounds_left in reversed(range(ROUNDS)):
        try:
            return look_and_act()
        except UncertainError:
            if not rounds_left:
                raise
            client.sleep(settling)
    raise AssertionError("the last round returns or raises")
