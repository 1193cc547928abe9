"""How much of a repository the review is willing to look at."""

from __future__ import annotations

from tclint.records import record


@record(frozen=True)
class Limits:
    """Bounds that no honest project meets: anyone may open a pull request.

    ``listing_bytes`` bounds one answer of Git (a list of files, a diff), ``file_bytes`` a file,
    ``total_bytes`` all files together, ``seconds`` one run of Git.
    """

    files: int = 100_000
    listing_bytes: int = 128 * 1024 * 1024
    file_bytes: int = 2 * 1024 * 1024
    total_bytes: int = 512 * 1024 * 1024
    path_bytes: int = 1024
    seconds: float = 120.0
