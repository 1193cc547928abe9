"""What findings cost, read from the JSON that ``tclint run`` wrote.

A price is of a line of a text. It holds for a file that is the same in the change, whichever commit
was recorded: a job may run the merge of the change and not its head.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tclint.diagnostics import Effect
from tclint.records import record
from tclint.report.rounded import rounded
from tclint.report.view import count
from tclint.review.findings import Cost, Introduced, Outcome
from tclint.review.markdown import code, prose
from tclint.review.reports import ReportError, read_report
from tclint.review.wording import rank
from tclint.run.report.recorded_at import SCHEMA, digest

_COMMAND: Final = "tclint run"
_LONGEST: Final = 120
"""Characters of a name that the report tells."""
_MOST: Final = 1e9
"""Milliseconds that no step takes."""
_ROWS: Final = 200
"""Rows of a statement that are looked at."""
_WAITS: Final = frozenset({Effect.HOST_SYNC, Effect.DEVICE_COPY})
"""What costs nothing without a GPU, and tells nothing about a run with one."""


@record(frozen=True)
class Told:
    """What the report tells of one line: what it costs, and of which rule."""

    code: str | None
    cost: Cost


@record(frozen=True)
class RunReport:
    """A recorded run: its step, where it ran, and its lines by path and row.

    ``texts`` are digests of the files that ran. ``priced`` says whether lines have prices.
    """

    name: str
    step: float
    torch: str
    device: str
    commit: str
    priced: bool
    texts: Mapping[str, str]
    lines: Mapping[tuple[str, int], Sequence[Told]]

    def cost(self, finding: Introduced) -> Cost | None:
        """What the finding costs; None where the run does not tell."""
        diagnostic, path = finding.result.diagnostic, finding.path
        first, last = diagnostic.span.start.row, diagnostic.span.end.row
        here = self.lines.get((path, first), ())
        if not here:
            rows = range(first + 1, min(last, first + _ROWS) + 1)
            found = (told for row in rows for told in self.lines.get((path, row), ()))
            here = [told for told in found if told.code == diagnostic.code]
        if not here or not self.priced or not self.same(finding):
            return None
        dearest = max((told.cost for told in here), key=lambda cost: (cost.worth, cost.ms))
        blind = not self.device and diagnostic.effect in _WAITS and not dearest.worth
        return None if blind else dearest

    def same(self, finding: Introduced) -> bool:
        """Whether the finding's file is as it was in the run."""
        return self.texts.get(finding.path) == digest(finding.result.file.text)


def read_run(file: Path) -> RunReport:
    """The report of a recorded run.

    Raises:
        ReportError: the file cannot be read, is something else, or of a form that is not known.
    """
    data = read_report(file, _COMMAND, "ranks")
    form = data.get("schema", 1)
    if form != SCHEMA:
        older = isinstance(form, int) and form < SCHEMA
        by = "an older" if older else "another"
        raise ReportError(f"{file}: written by {by} tclint: record the run again with this one")
    try:
        return _report(file.name, data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ReportError(f"{file}: not a report of {_COMMAND}") from error


def priced(outcome: Outcome, report: RunReport) -> Outcome:
    """The outcome with prices: the dearest findings first, and last what is worth nothing."""
    found = [replace(one, cost=report.cost(one)) for one in outcome.introduced]
    return replace(outcome, introduced=tuple(sorted(found, key=rank)))


def run_paragraph(outcome: Outcome, report: RunReport) -> str:
    """Which run the prices are of, and what it does not tell."""
    ran = [f"torch {code(report.torch)}"] if report.torch else []
    ran.append(code(report.device) if report.device else "no GPU")
    if report.commit:
        ran.append(f"commit {code(report.commit)}")
    step = f"a step of {rounded(report.step, 3)} ms" if report.step else "no step"
    said = f"Prices are of the recorded run {code(report.name)}: {', '.join([step, *ran])}."
    reasons = (f"{prose(one)}." for one in missing(outcome, report))
    return " ".join([said, *_sum(outcome, report), *reasons])


def missing(outcome: Outcome, report: RunReport) -> Iterator[str]:
    """Why findings have no price, each reason a sentence without its full stop."""
    if not outcome.introduced:
        return
    if not report.priced:
        yield "The run made too few steps: no line has a price"
        return
    paths = dict.fromkeys(finding.path for finding in outcome.introduced)
    if not paths.keys() & report.texts.keys():
        yield "No file with a finding was recorded in the run"
        return
    changed = dict.fromkeys(
        one.path for one in outcome.introduced if one.path in report.texts and not report.same(one)
    )
    if changed:
        first = f"`{next(iter(changed))}`"
        more = f" and {count(len(changed) - 1, 'more file')}" if len(changed) > 1 else ""
        are = "are" if more else "is"
        at = f" at commit `{report.commit}`" if report.commit else ""
        yield f"{first}{more} {are} not as in the run{at}: no price there"


def _sum(outcome: Outcome, report: RunReport) -> Iterator[str]:
    """How many findings have a price, and what their lines cost together."""
    costs = {
        (one.path, one.line): one.cost.ms
        for one in outcome.introduced
        if one.cost is not None and one.cost.worth
    }
    if costs and report.step:
        ms = sum(costs.values())
        lines = count(len(costs), "line with a finding costs", "lines with findings cost")
        yield f"{lines} {rounded(ms, 2)} ms of it ({min(1.0, ms / report.step):.0%})."


def _report(name: str, data: Mapping[str, Any]) -> RunReport:
    first = data["ranks"][0] if data["ranks"] else None
    step = _number(first["step_ms"]["value"]) if first else 0.0
    lines: dict[tuple[str, int], list[Told]] = {}
    for line in data["lines"]:
        if line["path"] is not None:
            key = str(line["path"]), _whole(line["row"])
            lines.setdefault(key, []).append(_told(line, step))
    return RunReport(
        name,
        step,
        _word(first["process"]["torch"]) if first else "",
        _word(first["process"]["device"]) if first else "",
        _word(data["commit"]),
        data["priced"] is True and step > 0,
        {str(path): str(text) for path, text in data["texts"].items()},
        lines,
    )


def _told(line: Mapping[str, Any], step: float) -> Told:
    ms = _number(line["ms"]["value"])
    share = min(1.0, ms / step) if step else 0.0
    return Told(line["code"], Cost(ms, share, worth=line["rank"] is not None and ms > 0))


def _number(value: float) -> float:
    """A time; whoever wrote the file may have written anything.

    Raises:
        ValueError: it is none.
    """
    number = float(value)
    if not 0 <= number < _MOST:
        raise ValueError(value)
    return number


def _whole(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(value)
    return value


def _word(value: object) -> str:
    return "" if value is None else str(value)[:_LONGEST]
