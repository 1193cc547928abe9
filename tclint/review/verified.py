"""The table of a verification, read from the JSON that ``tclint verify`` wrote.

Such a file may come from a job that ran the code under review: it is held to its shape, and what it
says is text like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tclint.errors import UserError
from tclint.files import read_bytes
from tclint.json_text import parse_json
from tclint.review.markdown import code, prose
from tclint.source.errors import reason

_COMMAND: Final = "tclint verify"
_MAX_TARGETS: Final = 50
_UNKNOWN: Final = "?"


class ReportError(UserError):
    """The file is not a report of that command; the message is for people."""


def verify_table(file: Path) -> str:
    """The report as a table: a row a target, figures before and after.

    Raises:
        ReportError: the file cannot be read or is something else.
    """
    targets = _targets(file)
    rows = []
    for target in targets[:_MAX_TARGETS]:
        try:
            rows.append(_row(target))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ReportError(f"{file}: not a report of {_COMMAND}") from error
    more = len(targets) - _MAX_TARGETS
    heading = (
        "| target | breaks | recompiles | equal | compiled ms | verdict |",
        "| --- | --- | --- | --- | --- | --- |",
    )
    tail = [f"\n{more} more targets are not shown."] if more > 0 else []
    return "\n".join(("Verified:\n", *heading, *rows, *tail))


def _targets(file: Path) -> list[Any]:
    try:
        report = parse_json(read_bytes(file))
    except OSError as error:
        raise ReportError(f"{file}: cannot read: {reason(error)}") from error
    except ValueError as error:
        raise ReportError(f"{file}: not JSON: {error}") from error
    targets = report.get("targets") if isinstance(report, dict) else None
    if not isinstance(targets, list):
        raise ReportError(f"{file}: not a report of {_COMMAND}: no `targets`")
    return targets


def _row(target: Mapping[str, Any]) -> str:
    arms = [*target["arms"][:1], *target["arms"][1:][-1:]]
    equal = target["equal"]
    cells = (
        code(str(target["target"])[:200].replace("|", "¦")),
        _both([len(arm["breaks"]) for arm in arms]),
        _both([len(arm["recompiles"]) for arm in arms]),
        _UNKNOWN if equal is None else "yes" if equal is True else "**no**",
        _both([_milliseconds(arm) for arm in arms]),
        _verdict(target),
    )
    return f"| {' | '.join(cells)} |"


def _verdict(target: Mapping[str, Any]) -> str:
    if target["passed"] is True:
        return "passed"
    failures = [arm["failure"]["message"] for arm in target["arms"] if arm["failure"]]
    said = "; ".join(str(text) for text in [*failures, *target["complaints"]])
    return prose(f"failed: {said[:300]}".replace("`", "'") if said else "failed")


def _milliseconds(arm: Mapping[str, Any]) -> str:
    times = arm.get("times")
    return f"{float(times['compiled_ms']['median']):.3g}" if times else _UNKNOWN


def _both(values: list[Any]) -> str:
    return " → ".join(str(value) for value in values) or _UNKNOWN
