"""What the review says, in Markdown; everything from the repository is taken literally."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from tclint.diagnostics import Applicability, Decline, Fix, Worth
from tclint.fix.conflicts import changes_of
from tclint.fix.diff import hunks
from tclint.lint.links import on_web
from tclint.printable import visible
from tclint.report.told import command, told
from tclint.report.view import count, effect_text
from tclint.review.findings import Introduced, Outcome
from tclint.review.markdown import code, link, prose
from tclint.source.file import SourceFile

_MAX_GROUPS: Final = 60
_MAX_LINES: Final = 12
_MAX_FILES: Final = 20
_MAX_PROSE: Final = 1000
_MAX_DIFF: Final = 40
_TICKS: Final = re.compile("`+")
_WORTHS: Final = (*Worth,)


def explanation(finding: Introduced) -> list[str]:
    """What is wrong, in paragraphs."""
    diagnostic = finding.result.diagnostic
    url = on_web(diagnostic.url)
    name = f"**{diagnostic.code if url is None else link(diagnostic.code, url)}**"
    sure = f"{diagnostic.confidence.value} confidence"
    lines = [
        f"{name} {code(diagnostic.name)}: {effect_text(diagnostic)}, {sure}",
        prose(_cut(diagnostic.message)),
    ]
    if finding.chain:
        lines.append(f"Reached: {code(_cut(finding.chain))}")
    return lines


def why(finding: Introduced) -> list[str]:
    """What it costs, by the page of its rule, and how to silence it."""
    diagnostic = finding.result.diagnostic
    silence = f"# tclint: ignore[{diagnostic.code}]"
    ways = f"Silence it: {code(silence)} on the line; {code(f'tclint rule {diagnostic.code}')}"
    reason = told(finding.result).why
    return [*([f"Why: {prose(_cut(reason))}"] if reason else []), f"{ways} says when to leave it."]


def changes(file: SourceFile, fix: Fix) -> list[str]:
    """What a fix does that is no suggestion, as a diff; nothing where that is long."""
    diff = hunks(file.text, changes_of(file, fix.edits))
    lines = [visible(line) for line in diff.splitlines()]
    if not lines or len(lines) > _MAX_DIFF:
        return []
    body = "\n".join(lines)
    fence = "`" * max(3, max(map(len, _TICKS.findall(body)), default=0) + 1)
    return [f"{fence}diff\n{body}\n{fence}"]


def remedy(finding: Introduced, fix: Fix | Decline | None, *, offered: bool) -> list[str]:
    """What to do instead; ``offered`` says that a suggestion follows."""
    diagnostic = finding.result.diagnostic
    if isinstance(fix, Fix):
        diagnostic = replace(diagnostic, instead=fix.message, fixable=fix.applicability)
    else:
        diagnostic = replace(diagnostic, fixable=None, declined=fix)
    one = told(replace(finding.result, diagnostic=diagnostic), [finding.path])
    return [f"Instead{', as suggested' if offered else ''}: {prose(_cut(one.instead))}"]


def summary(outcome: Outcome, left_over: Sequence[Introduced]) -> list[str]:
    """The whole in figures, the command that mends it, and what has no comment of its own."""
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
        paths = safe if len(safe) <= _MAX_FILES else ["."]
        paragraphs.append(f"Apply the safe fixes: {code(command(paths, unsafe=False))}")
    if left_over:
        paragraphs.append("Without a comment of their own:")
        paragraphs.append(_list(_groups(left_over)))
    if outcome.unreadable:
        paragraphs.append("Not checked:")
        paragraphs.append(
            _list(f"- {code(u.path)}: {prose(_cut(u.message))}" for u in outcome.unreadable)
        )
    return paragraphs


def _table(introduced: Sequence[Introduced]) -> str:
    counts = Counter(i.result.diagnostic.effect.value.replace("-", " ") for i in introduced)
    rows = [f"| {effect} | {number} |" for effect, number in counts.most_common()]
    return "\n".join(("| effect | findings |", "| --- | --- |", *rows))


def _groups(findings: Sequence[Introduced]) -> Iterator[str]:
    """One line for all that one rule says of one file, what is worth most first, with a message."""
    ordered = sorted(findings, key=_group)
    groups = [[*group] for _, group in groupby(ordered, key=_group)]
    for found in sorted(groups, key=lambda found: min(map(_rank, found))):
        path, name = _group(found[0])
        lines = [str(finding.line) for finding in found]
        place = code(f"{path}:{lines[0]}")
        if len(lines) > 1:
            more = ", …" if len(lines) > _MAX_LINES else ""
            place = f"{code(path)}, lines {', '.join(lines[:_MAX_LINES])}{more},"
        told = prose(_cut(found[0].result.diagnostic.message))
        yield f"- {place} {name}: {told}"


def _rank(finding: Introduced) -> int:
    """Sorts by what a remedy is worth, the most first."""
    return -_WORTHS.index(finding.result.diagnostic.worth)


def _group(finding: Introduced) -> tuple[str, str]:
    return finding.path, finding.result.diagnostic.code


def _list(lines: Iterator[str]) -> str:
    every = [*lines]
    more = len(every) - _MAX_GROUPS
    return "\n".join((*every[:_MAX_GROUPS], *((f"- and {more} more",) if more > 0 else ())))


def _has_safe_fix(finding: Introduced) -> bool:
    return finding.result.diagnostic.fixable is Applicability.SAFE


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_PROSE else f"{text[:_MAX_PROSE]} …"
