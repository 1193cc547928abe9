"""When a report was made, by what, and of which commit."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tclint import __version__
from tclint.git.run import GitError, ask, in_repository
from tclint.report.project import NAME


def origin(folder: Path) -> str:
    """``tclint 0.1.0 · 2026-05-01 12:00 UTC · commit 1a2b3c4d5e``; without Git, no commit."""
    commit = commit_of(folder)
    parts = [f"{NAME} {__version__}", _now(), f"commit {commit}" if commit else ""]
    return " · ".join(part for part in parts if part)


def commit_of(folder: Path) -> str:
    """The first ten digits of the commit that a folder is at; empty where there is none."""
    call = in_repository(folder)
    if not (call.folder / ".git").exists():
        return ""
    try:
        said = ask(call, "rev-parse", "--verify", "--quiet", "--short=10", "HEAD")
    except GitError:
        return ""
    return said.decode("ascii", "replace").strip()


def _now() -> str:
    """The time, or the one that builds are told to claim, so that they can be repeated."""
    told = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = int(told) if told.isascii() and told.isdigit() and len(told) < 12 else time.time()
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))
