"""The review as GitHub's "create a review for a pull request" takes it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tclint.diagnostics import Applicability, Decline, Fix
from tclint.report.view import count, effect_text
from tclint.review.findings import Introduced, Outcome
from tclint.review.markdown import block, code, link, prose
from tclint.review.suggestion import Suggestion, suggestion

if TYPE_CHECKING:
    from tclint.lint.engine import Result

FixOf = Callable[["Result"], "Fix | Decline | None"]

MAX_COMMENTS: Final = 40
"""GitHub limits how much one request may create; what is over stands in the summary."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on lines of the new side of the diff."""

    path: str
    first: int
    last: int
    body: str

    def payload(self) -> dict[str, Any]:
        """The comment as the endpoint takes it: one line needs no start."""
        single = {"path": self.path, "line": self.last, "side": "RIGHT"}
        several = {"start_line": self.first, "start_side": "RIGHT"}
        return single | (several if self.first < self.last else {}) | {"body": self.body}


@dataclass(frozen=True, slots=True)
class Review:
    """A summary and the comments."""

    commit: str
    body: str
    comments: tuple[Comment, ...]

    def payload(self) -> dict[str, Any]:
        """The body of the request."""
        return {
            "commit_id": self.commit,
            "event": "COMMENT",
            "body": self.body,
            "comments": [comment.payload() for comment in self.comments],
        }


def compose(outcome: Outcome, fix_of: FixOf) -> Review:
    """Write the review of an outcome."""
    introduced = outcome.introduced
    comments = tuple(_comment(finding, fix_of) for finding in introduced[:MAX_COMMENTS])
    return Review(outcome.head, _summary(outcome, introduced[MAX_COMMENTS:]), comments)


def _comment(finding: Introduced, fix_of: FixOf) -> Comment:
    fix = fix_of(finding.result)
    offer = (
        suggestion(finding.result.file, fix.edits, finding.added)
        if isinstance(fix, Fix) and fix.applicability is not Applicability.DISPLAY
        else None
    )
    paragraphs = [*_explanation(finding), *_remedy(finding, fix, offer)]
    paragraphs.append(f"<!-- tclint:{finding.fingerprint} -->")
    body = "\n\n".join(paragraphs)
    if offer is None:
        return Comment(finding.path, finding.line, finding.line, body)
    return Comment(finding.path, offer.first, offer.last, body)


def _explanation(finding: Introduced) -> list[str]:
    diagnostic = finding.result.diagnostic
    name = f"**{link(diagnostic.code, diagnostic.url) if diagnostic.url else diagnostic.code}**"
    sure = f"{diagnostic.confidence.value} confidence"
    lines = [
        f"{name} {code(diagnostic.name)}: {effect_text(diagnostic)}, {sure}",
        prose(diagnostic.message),
    ]
    if finding.chain:
        lines.append(f"In the compiled region: {code(finding.chain)}")
    return lines


def _remedy(finding: Introduced, fix: Fix | Decline | None, offer: Suggestion | None) -> list[str]:
    if fix is None:
        return []
    if isinstance(fix, Decline):
        return [f"No fix: {prose(fix.reason)}"]
    words = f"{fix.applicability.value.capitalize()} fix: {prose(fix.message)}"
    repair = finding.result.repair
    if repair is not None and repair.changes:
        words += f" (what may change: {prose(repair.changes)})"
    if offer is not None:
        return [words, block("suggestion", offer.lines)]
    if fix.applicability is Applicability.DISPLAY:
        return [words]
    unsafe = fix.applicability is Applicability.UNSAFE
    return [f"{words}: {code(_command([finding.path], unsafe=unsafe))}"]


def _summary(outcome: Outcome, left_over: Sequence[Introduced]) -> str:
    introduced = outcome.introduced
    if not introduced:
        paragraphs = ["**tclint** found nothing on the added lines."]
    else:
        paragraphs = [
            f"**tclint**: {count(len(introduced), 'finding')} on the added lines.",
            _table(introduced),
        ]
    safe = sorted({i.path for i in introduced if _has_safe_fix(i)})
    if safe:
        paragraphs.append(f"Apply the safe fixes: {code(_command(safe, unsafe=False))}")
    if left_over:
        paragraphs.append("Without a comment of their own:")
        paragraphs.append("\n".join(_line(finding) for finding in left_over))
    if outcome.unreadable:
        paragraphs.append("Not checked:")
        paragraphs.append(
            "\n".join(f"- {code(u.path)}: {prose(u.message)}" for u in outcome.unreadable)
        )
    paragraphs.append(f"<!-- tclint:review {outcome.base} {outcome.head} -->")
    return "\n\n".join(paragraphs)


def _table(introduced: Sequence[Introduced]) -> str:
    counts = Counter(i.result.diagnostic.effect.value.replace("-", " ") for i in introduced)
    rows = [f"| {effect} | {number} |" for effect, number in counts.most_common()]
    return "\n".join(("| effect | findings |", "| --- | --- |", *rows))


def _line(finding: Introduced) -> str:
    diagnostic = finding.result.diagnostic
    place = code(f"{finding.path}:{finding.line}")
    return f"- {place} {diagnostic.code}: {prose(diagnostic.message)}"


def _has_safe_fix(finding: Introduced) -> bool:
    return finding.result.diagnostic.fixable is Applicability.SAFE


def _command(paths: Sequence[str], *, unsafe: bool) -> str:
    flags = ("--unsafe-fixes",) if unsafe else ()
    # A path that starts with a dash would be read as an option.
    dashes = ("--",) if any(path.startswith("-") for path in paths) else ()
    return shlex.join(("tclint", "fix", *flags, *dashes, *paths))
