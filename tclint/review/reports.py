"""Reports of other commands that a review shows, read from the JSON that they wrote.

Such a file may come from a job that ran the code under review: it is held to its shape, and what it
says is text like any other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tclint.errors import UserError
from tclint.files import read_bytes
from tclint.json_text import parse_json
from tclint.source.errors import reason


class ReportError(UserError):
    """The file is not a report of that command; the message is for people."""


def read_report(file: Path, command: str, key: str) -> dict[str, Any]:
    """The report of a command, which has a list below ``key``.

    Raises:
        ReportError: the file cannot be read or is something else.
    """
    try:
        report = parse_json(read_bytes(file))
    except OSError as error:
        raise ReportError(f"{file}: cannot read: {reason(error)}") from error
    except ValueError as error:
        raise ReportError(f"{file}: not JSON: {error}") from error
    if not isinstance(report, dict) or not isinstance(report.get(key), list):
        raise ReportError(f"{file}: not a report of {command}: no `{key}`")
    return report
