"""What a webhook asks for."""

from __future__ import annotations

import json
from typing import Any, Final

from tclint.review.github.api import valid_full_name
from tclint.review.service.queue import Job

ACTIONS: Final = frozenset({"opened", "synchronize", "reopened", "ready_for_review", "edited"})
"""What may change a review: new commits, another base, a draft no more."""

_BEYOND_IDS: Final = 2**53
"""What any reader of JSON can tell apart; GitHub's numbers are far below."""


class EventError(Exception):
    """The webhook is not what GitHub sends."""


def job_of(event: str, body: bytes) -> Job | None:
    """The job, or None where there is nothing to do.

    Raises:
        EventError: the payload has another shape.
    """
    if event != "pull_request":
        return None
    try:
        payload: Any = json.loads(
            body.decode(), object_pairs_hook=_without_duplicates, parse_constant=_refuse
        )
        if payload["action"] not in ACTIONS:
            return None
        if payload["action"] == "edited" and "base" not in payload["changes"]:
            return None
        if "installation" not in payload:
            # A hook of the repository, not the app's: nothing gives us a token.
            return None
        name, number = payload["repository"]["full_name"], payload["number"]
        installation = payload["installation"]["id"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise EventError("not a payload of pull_request") from error
    if not isinstance(name, str) or not valid_full_name(name):
        raise EventError("repository.full_name is not OWNER/NAME")
    if not _is_id(number) or not _is_id(installation):
        raise EventError("number and installation.id must be numbers above 0 and below 2**53")
    return Job(name, number, installation)


def _is_id(value: object) -> bool:
    return type(value) is int and 0 < value < _BEYOND_IDS


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; one in which a name stands twice means two things to two readers."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in an object")
    return found


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")
