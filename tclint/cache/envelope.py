"""Remembered data as bytes: JSON, so that a planted file can at worst tell something wrong."""

from __future__ import annotations

import json
from zlib import crc32

TYPE_CHECKING = False  # `typing` takes longer to import than the rest of a run that is replayed
if TYPE_CHECKING:
    from typing import Any, Final

FOLDER: Final = ".tclint_cache"
FINDINGS: Final = ".run"
"""What was found, and what that rests on."""
REPORT: Final = ".report"
"""What was printed, and what that rests on."""
IMPORTS: Final = ".imports"
"""What the files of a project import."""
LARGEST: Final = 64 * 2**20
"""Bytes of a file of the cache: the findings of more than thirty thousand files."""
UNUSABLE: Final = (
    OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError,
)  # fmt: skip
"""What comes of reading a file of the cache that is damaged or made up."""
_MAGIC: Final = b"tclint cache 2"


def packed(content: object) -> bytes:
    """Data with a checksum."""
    body = json.dumps(content, separators=(",", ":")).encode()
    return b"%b\n%d\n%b" % (_MAGIC, crc32(body), body)


def unpacked(data: bytes) -> Any:
    """What :func:`packed` took.

    Raises:
        ValueError: the bytes are damaged, or of another version.
        RecursionError: they are nested too deeply.
    """
    magic, checksum, body = data.split(b"\n", 2)
    if magic != _MAGIC or int(checksum) != crc32(body):
        raise ValueError("damaged")
    return json.loads(body)
