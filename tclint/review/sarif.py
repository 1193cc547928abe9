"""The findings of a review as SARIF, for code scanning."""

from __future__ import annotations

import json

from tclint.lint.engine import Run
from tclint.lint.registry import load_rules
from tclint.printable import json_text
from tclint.report.sarif import render
from tclint.report.view import View
from tclint.review.findings import Outcome


def to_sarif(outcome: Outcome) -> str:
    """A log of what the range brings in; paths are relative to the repository's root."""
    run = Run(tuple(finding.result for finding in outcome.introduced), (), 0)
    log = json.loads(render(run, View(outcome.folder, rules=load_rules())))
    # The folder was a copy, which is gone.
    log["runs"][0].pop("originalUriBaseIds")
    return json_text(log) + "\n"
