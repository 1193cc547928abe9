"""Two reports of ``tclint run``, set beside each other: what came, what went, and the step."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tclint.errors import UserError
from tclint.files import read_text
from tclint.json_text import parse_json
from tclint.records import record
from tclint.report.rounded import rounded
from tclint.run.intervals import Interval
from tclint.source.errors import reason
from tclint.verify.wire import plain

LARGEST = 1 << 28
"""Bytes of a report."""
_HAPPENED = "graph-break", "recompile", "host-sync", "runs-eagerly"


@record(frozen=True)
class Happened:
    """What happened in one place; rows move between two versions, so that they are not compared."""

    kind: str
    filename: str
    what: str


@record(frozen=True)
class Told:
    """What one report tells: the step of its first rank, and how often each thing happened."""

    step: Interval | None
    happened: Mapping[Happened, int]
    rows: Mapping[Happened, int]


@record(frozen=True)
class Comparison:
    """What the second report has more of, and what it has less of."""

    before: Told
    after: Told
    came: tuple[Happened, ...]
    went: tuple[Happened, ...]

    @property
    def slower(self) -> bool:
        """Whether a step is slower by more than what both may be off by."""
        before, after = self.before.step, self.after.step
        return before is not None and after is not None and after.low > before.high

    @property
    def worse(self) -> bool:
        """Whether something came, or a step is slower."""
        return bool(self.came) or self.slower


def compare(one: Path, other: Path) -> Comparison:
    """Compare two files that ``--output-format json`` wrote.

    Raises:
        UserError: one of them is none.
    """
    before, after = _read(one), _read(other)
    first, second = Counter(before.happened), Counter(after.happened)
    return Comparison(before, after, tuple(second - first), tuple(first - second))


def text(comparison: Comparison, root: Path) -> str:
    """The comparison for a terminal."""
    return "\n".join(_lines(comparison, root)) + "\n"


def as_json(comparison: Comparison, root: Path) -> str:
    """The comparison for programs; file names are whole, times in milliseconds."""
    del root
    before, after = comparison.before, comparison.after
    data = {
        "worse": comparison.worse,
        "slower": comparison.slower,
        "step_ms": {"before": plain(before.step), "after": plain(after.step)},
        "came": [_record(one, after) for one in comparison.came],
        "went": [_record(one, before) for one in comparison.went],
    }
    return json.dumps(data, indent=2) + "\n"


def as_markdown(comparison: Comparison, root: Path) -> str:
    """The comparison for a pull request or a job's summary."""
    told = text(comparison, root)
    fence = "`" * (max([2, *map(len, re.findall("`+", told))]) + 1)
    return f"{fence}text\n{told}{fence}\n"


def _record(one: Happened, told: Told) -> dict[str, Any]:
    return {"kind": one.kind, "filename": one.filename, "row": told.rows[one], "what": one.what}


def _lines(comparison: Comparison, root: Path) -> Iterator[str]:
    before, after = comparison.before, comparison.after
    if before.step is not None and after.step is not None:
        ratio = before.step.value / after.step.value if after.step.value else 0.0
        spread = after.step.low <= before.step.high and before.step.low <= after.step.high
        words = "no difference that could be measured" if spread else f"{ratio:.3g}x"
        yield f"step {rounded(before.step.value, 4)} -> {rounded(after.step.value, 4)} ms ({words})"
    yield from _named("came", comparison.came, after, root)
    yield from _named("went", comparison.went, before, root)
    if not comparison.came and not comparison.went:
        yield "what happened is the same"


def _named(word: str, found: Sequence[Happened], told: Told, root: Path) -> Iterator[str]:
    for one in found:
        path = Path(one.filename)
        name = path.relative_to(root) if path.is_relative_to(root) else path
        yield f"{word}: {name}:{told.rows[one]}  {one.kind}  {one.what}"


def _read(file: Path) -> Told:
    try:
        data = parse_json(read_text(file, LARGEST))
        ranks, lines = data["ranks"], data["lines"]
        step = _interval(ranks[0]["step_ms"]) if ranks and ranks[0]["steps"] else None
        return _told(step, lines)
    except OSError as error:
        raise UserError(f"{file}: {reason(error)}") from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UserError(f"{file}: not a report of `tclint run --output-format json`") from error


def _told(step: Interval | None, lines: Sequence[Mapping[str, Any]]) -> Told:
    happened: Counter[Happened] = Counter()
    rows: dict[Happened, int] = {}
    for line in lines:
        for event in line["events"]:
            if event["kind"] in _HAPPENED and not event["by_torch"]:
                one = Happened(event["kind"], str(event["filename"]), str(event["what"]))
                happened[one] += 1
                rows.setdefault(one, int(event["row"]))
    return Told(step, happened, rows)


def _interval(data: Mapping[str, float]) -> Interval:
    return Interval(float(data["value"]), float(data["low"]), float(data["high"]))
