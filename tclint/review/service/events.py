"""What a webhook asks for."""

from __future__ import annotations

import json
from typing import Any, Final

from tclint.review.github.api import valid_full_name
from tclint.review.service.queue import Job

ACTIONS: Final = frozenset({"opened", "synchronize", "reopened", "ready_for_review", "edited"})
"""What may change a review: new commits, another base, a draft no more."""


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
        payload: Any = json.loads(body)
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
    if type(number) is not int or type(installation) is not int or not 0 < number < 2**53:
        raise EventError("number and installation.id must be numbers")
    return Job(name, number, installation)
