"""Reports of other commands that a review shows, read from the JSON that they wrote.

Such a file may come from a job that ran the code under review: it is held to its shape, and what it
says is text like any other.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from tclint.errors import UserError

_MAX_BYTES: Final = 16 * 1024 * 1024


class ReportError(UserError):
    """The file is not a report of that command; the message is for people."""


def read_report(file: Path, command: str, key: str) -> dict[str, Any]:
    """The report of a command, which has a list below ``key``.

    Raises:
        ReportError: the file cannot be read or is something else.
    """
    try:
        with file.open("rb") as stream:
            text = stream.read(_MAX_BYTES + 1)
        report = json.loads(text) if len(text) <= _MAX_BYTES else None
    except OSError as error:
        raise ReportError(f"{file}: cannot read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{file}: not JSON") from error
    if not isinstance(report, dict) or not isinstance(report.get(key), list):
        raise ReportError(f"{file}: not a report of {command}: no `{key}`")
    return report
