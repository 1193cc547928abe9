"""Regular expressions of modules, compiled when they are first used.

A run imports a hundred of them and uses some: to compile all takes a thirtieth of a start.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from re import compile as regex
else:

    class regex:  # noqa: N801 (it is called like a function)
        """What ``re.compile`` gives, without having compiled yet."""

        def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
            self._said = pattern, flags

        def __getattr__(self, name: str) -> Any:
            value = getattr(re.compile(*self._said), name)
            setattr(self, name, value)  # found before this is asked again
            return value


__all__ = ["regex"]
