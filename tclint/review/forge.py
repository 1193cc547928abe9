"""Names that the command line and the review share."""

from __future__ import annotations

from enum import Enum


class Forge(str, Enum):
    """Where the pull request is."""

    GITHUB = "github"
    GITLAB = "gitlab"


class Mode(str, Enum):
    """How the review is told."""

    REVIEW = "review"
    ANNOTATIONS = "annotations"
    DRY_RUN = "dry-run"
