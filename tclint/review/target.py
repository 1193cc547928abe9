"""Which pull request a run is about: told by the CI job, or on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tclint.files import read_bytes
from tclint.json_text import parse_json
from tclint.records import record
from tclint.review.forge import Forge
from tclint.review.secret import Secret
from tclint.source.errors import reason


class TargetError(Exception):
    """It is not clear what to review; the message is for people."""


@record(frozen=True)
class Target:
    """A pull request: ``repository`` is ``owner/name`` on GitHub, an id or a path on GitLab.

    ``base`` and ``head`` are the commits that the CI job is for, empty where nothing says.
    """

    forge: Forge
    api_url: str
    repository: str = ""
    number: int = 0
    base: str = ""
    head: str = ""
    draft: bool = False


_TOKENS: Final = {Forge.GITHUB: "GITHUB_TOKEN", Forge.GITLAB: "GITLAB_TOKEN"}


def target_from(environ: Mapping[str, str], forge: Forge | None = None) -> Target:
    """What the environment of a CI job tells.

    Raises:
        TargetError: the job's event cannot be read.
    """
    if forge is None:
        forge = Forge.GITLAB if environ.get("GITLAB_CI") else Forge.GITHUB
    return _on_gitlab(environ) if forge is Forge.GITLAB else _on_github(environ)


def token_from(environ: Mapping[str, str], forge: Forge) -> Secret:
    """The token; it is never an option, because other users see command lines.

    Raises:
        TargetError: there is none.
    """
    name = _TOKENS[forge]
    value = environ.get(name, "").strip()
    if not value:
        raise TargetError(f"no token: set {name}, or choose --mode annotations or --mode dry-run")
    return Secret(value)


def _on_github(environ: Mapping[str, str]) -> Target:
    api_url = environ.get("GITHUB_API_URL") or "https://api.github.com"
    pull = _event(environ).get("pull_request")
    if not isinstance(pull, dict):
        return Target(Forge.GITHUB, api_url, environ.get("GITHUB_REPOSITORY", ""))
    try:
        base, head = pull["base"], pull["head"]
        return Target(
            Forge.GITHUB, api_url, str(base["repo"]["full_name"]), int(pull["number"]),
            str(base["sha"]), str(head["sha"]), bool(pull.get("draft")),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise TargetError("GITHUB_EVENT_PATH: not the event of a pull request") from error


def _event(environ: Mapping[str, str]) -> dict[str, Any]:
    path = environ.get("GITHUB_EVENT_PATH")
    if not path:
        return {}
    try:
        event = parse_json(read_bytes(path))
    except OSError as error:
        raise TargetError(f"GITHUB_EVENT_PATH: cannot read: {reason(error)}") from error
    except ValueError as error:
        raise TargetError("GITHUB_EVENT_PATH: not JSON") from error
    return event if isinstance(event, dict) else {}


def _on_gitlab(environ: Mapping[str, str]) -> Target:
    number = environ.get("CI_MERGE_REQUEST_IID", "")
    # In a pipeline for merged results the commit of the job is not one of the source branch.
    source = environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or environ.get("CI_COMMIT_SHA", "")
    return Target(
        Forge.GITLAB,
        environ.get("CI_API_V4_URL") or "https://gitlab.com/api/v4",
        environ.get("CI_MERGE_REQUEST_PROJECT_ID") or environ.get("CI_PROJECT_ID", ""),
        int(number) if number.isascii() and number.isdigit() else 0,
        environ.get("CI_MERGE_REQUEST_DIFF_BASE_SHA", ""),
        source if number else "",
        environ.get("CI_MERGE_REQUEST_TITLE", "").startswith(("Draft:", "[Draft]", "(Draft)")),
    )
