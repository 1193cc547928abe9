"""The analysis of a change in a process of its own, which holds no secret and reaches no network.

``python -m tclint.review.service.analysis`` reads a request (JSON) from standard input and prints
the review, or why there is none.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tclint.children import module_command
from tclint.config import ConfigError
from tclint.git.diff import Added
from tclint.lint.engine import check_files
from tclint.report.repairs import fix_of
from tclint.review.compose import compose
from tclint.review.findings import Change, review_range
from tclint.review.git import Git, GitError
from tclint.review.limits import Limits
from tclint.review.plan import Review, Shown, review_from
from tclint.review.service.child import ChildError, run_bounded
from tclint.review.service.settings import Settings


class AnalysisError(Exception):
    """The change cannot be reviewed, and another try would not help; the message is for people."""


def analyse(settings: Settings, repository: Path, change: Change, shown: Shown) -> Review:
    """The review of a change whose commits are in a repository.

    Raises:
        AnalysisError: the configuration is faulty, or the change exceeds the limits.
    """
    request = {
        "repository": str(repository),
        "change": asdict(change),
        "shown": {path: [asdict(lines) for lines in every] for path, every in shown.items()},
        "limits": asdict(settings.limits),
    }
    command, stdin = module_command(__name__), json.dumps(request).encode()
    try:
        answer = run_bounded(command, repository.parent, settings.bounds, stdin=stdin)
    except ChildError as error:
        raise AnalysisError(f"the analysis failed: {error}") from error
    data = json.loads(answer)
    if "error" in data:
        raise AnalysisError(data["error"])
    return review_from(data)


def _review(request: dict[str, Any]) -> dict[str, Any]:

    git = Git(Path(request["repository"]), Limits(**request["limits"]), is_bare=True)
    shown = {path: [Added(**lines) for lines in every] for path, every in request["shown"].items()}
    try:
        outcome = review_range(git, Change(**request["change"]), check_files)
    except (GitError, ConfigError) as error:
        return {"error": str(error)}
    return compose(outcome, fix_of, shown).to_data()


if __name__ == "__main__":
    json.dump(_review(json.load(sys.stdin)), sys.stdout)
