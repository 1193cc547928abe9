"""``tclint review`` as a CI job calls it."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from tclint.cli.app import app
from tests.review_repository import Repository


@dataclass(frozen=True)
class Done:
    """How a run ended and what it said."""

    returncode: int
    stdout: str
    stderr: str


def as_job(
    api_url: str, token: str, repository: Repository, event: Path, *options: str, **more: str
) -> Done:
    """Run it with what GitHub gives the job of a pull request."""
    theirs = [name for name in os.environ if name.startswith(("GIT", "CI_"))]
    environment = {
        **dict.fromkeys(theirs),
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": api_url,
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_TOKEN": token,
        **more,
    }
    path = sys.path[:]
    try:
        done = CliRunner().invoke(
            app,
            ["review", "--repo", str(repository.folder), *options],
            env=environment,
            catch_exceptions=False,
        )
    finally:
        sys.path[:] = path
    return Done(done.exit_code, done.stdout, done.stderr)


def write_event(
    folder: Path, repository: Repository, number: int = 1, *, draft: bool = False
) -> Path:
    """The event of a pull request, as far as it is read."""
    file = folder / "event.json"
    pull = {
        "number": number,
        "draft": draft,
        "base": {
            "sha": repository.git("rev-parse", "main"),
            "repo": {"full_name": "octo/model"},
        },
        "head": {"sha": repository.git("rev-parse", "change")},
    }
    file.write_text(json.dumps({"pull_request": pull}), "utf-8")
    return file
