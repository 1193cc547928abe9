"""Headlines: what a finding says first, short enough to be read at a glance."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 100
"""Characters that a headline may have."""
NAME: Final = 20
"""Characters of quoted code that a headline has room for, unless the torch it is for is told."""
_SHORTEST: Final = 8
_QUOTED: Final = re.compile(r"`[^`]*`")
_CUT: Final = "..."


def headline(message: str) -> str:
    """A message on one line; where it is too long, quoted code is shortened, the longest first."""
    text = " ".join(message.split())
    while len(text) > LONGEST:
        quoted = max(_QUOTED.finditer(text), key=lambda found: len(found[0]), default=None)
        if quoted is None or len(quoted[0]) <= _SHORTEST + 2:
            break
        least = NAME if len(quoted[0]) > NAME + 2 else _SHORTEST
        room = max(least, len(quoted[0]) - 2 - (len(text) - LONGEST))
        code = quoted[0][1:-1][: room - len(_CUT)].rstrip() + _CUT
        text = f"{text[: quoted.start()]}`{code}`{text[quoted.end() :]}"
    return text
