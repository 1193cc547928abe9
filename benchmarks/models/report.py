"""The benchmark's page, and what the terminal shows of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from benchmarks.models.join import Joined
from benchmarks.models.totals import FindingSeen, LineSeen, Share, Totals

T = TypeVar("T")
Source = Callable[[str, int], str]
MODES = ("eval", "train")
NAMED_MODELS = 3

INTRODUCTION = """\
# tclint against {models}

<!-- Written by `python -m benchmarks.models --markdown`; do not edit. -->

Tiny models with random weights are compiled with the real torch, each in a process of its own: a
backend that only counts graphs, `dynamic=False`, the first call, without gradients in eval mode and
with them in train mode. Every line of the package at which the graph broke is compared with what
`tclint check` says about the same files, which it never imports.

- **recall**: of the lines that broke, the share that a graph-break finding names. A line does not
  count if it breaks only because another one did (a comprehension, which up to Python 3.11 is a
  frame of its own, or the `super().__init__()` of a module whose `__init__` broke further down), or
  if it uses a value that Dynamo had refused to create before, such as a sparse tensor.
- **precision**: of the graph-break findings at lines that ran, the share at which the graph broke,
  in either mode and in any model. An operand of `and` that Python never evaluated did not run. A
  finding in a function that an earlier break had already sent to eager (*behind*) does not count,
  nor does one of low confidence, which depends on a setting that is off here; both are listed.
- **silence**: models that compile as one graph must not have findings of high confidence at lines
  that ran.
"""


def source_of(root: Path) -> Source:
    """What a line says, for lines of files relative to ``root``."""

    def text(file: str, row: int) -> str:
        return (root / file).read_text("utf-8").splitlines()[row - 1].strip()

    return text


def summary(joined: Sequence[Joined], totals: Totals) -> str:
    """The figures in a few lines."""
    ran = [one for one in joined if one.graphs]
    quiet = len(totals.whole) - len(totals.loud)
    return "\n".join(
        [
            f"models      {len(ran)} measured, {len(joined) - len(ran)} did not run",
            f"recall      {totals.recall} of the lines that broke",
            f"precision   {totals.precision} of the findings at lines that ran",
            f"silence     {Share(quiet, len(totals.whole))} of the models without graph breaks",
        ]
    )


def page(
    joined: Sequence[Joined],
    totals: Totals,
    versions: Mapping[str, str],
    source: Source,
    models: str = "real models",
) -> str:
    """The whole report in Markdown."""
    parts = [
        INTRODUCTION.replace("{models}", models),
        _versions(versions),
        *_figures(joined, totals),
    ]
    parts += _section("Missed lines", _misses(totals.missed, source))
    parts += _section("False alarms", _alarms(totals.judged("false-alarm"), source))
    low = totals.judged("false-alarm", low=True)
    parts += _section("Low confidence, and no break here", _alarms(low, source))
    parts += _section("Behind a dropped frame", _alarms(totals.judged("behind"), source))
    parts += _section("Found lines", _misses(_found(totals), source))
    parts += ["## Models\n", _models(joined)]
    parts += _section("Not measured", _failures(joined))
    return "\n".join(parts)


def _versions(versions: Mapping[str, str]) -> str:
    told = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    return f"Measured with {told}.\n"


def _figures(joined: Sequence[Joined], totals: Totals) -> Iterator[str]:
    yield "## Figures\n"
    yield "```text\n" + summary(joined, totals) + "\n```\n"
    if totals.loud:
        yield "Models that compile as one graph, with findings of high confidence:\n"
        for one, findings in totals.loud:
            places = ", ".join(f"{f.code} at `{f.file}:{f.row}`" for f in findings)
            yield f"- {one.model}: {places}"
        yield ""


def _section(title: str, rows: list[str]) -> list[str]:
    return [f"## {title}\n", *rows, ""] if rows else []


def _found(totals: Totals) -> list[LineSeen]:
    return [seen for seen in totals.broken if seen.line.by]


def _misses(lines: Sequence[LineSeen], source: Source) -> list[str]:
    rows = []
    groups = _grouped(lines, lambda seen: (seen.line.gb_ids or ("no id",))[0])
    for gb_id, seen in groups:
        rows.append(f"### {gb_id}: {_cell(seen[0].line.reason)} ({len(seen)})\n")
        rows += ["| line | source | found by | models |", "| --- | --- | --- | --- |"]
        for one in seen:
            line = one.line
            codes = ", ".join(sorted({f.code for f in line.by})) or "-"
            text = _code(source(line.file, line.row))
            rows.append(f"| `{line.file}:{line.row}` | {text} | {codes} | {_named(one.models)} |")
        rows.append("")
    return rows


def _alarms(findings: Sequence[FindingSeen], source: Source) -> list[str]:
    rows = []
    for code, seen in _grouped(findings, lambda one: one.finding.code):
        rows.append(f"### {code} ({len(seen)})\n")
        rows += ["| line | source | confidence | models |", "| --- | --- | --- | --- |"]
        for one in seen:
            finding = one.finding
            text = _code(source(finding.file, finding.row))
            place = f"`{finding.file}:{finding.row}`"
            rows.append(f"| {place} | {text} | {finding.confidence} | {_named(one.models)} |")
        rows.append("")
    return rows


def _models(joined: Sequence[Joined]) -> str:
    rows = [
        "| model | family | graphs: eval, train | broken | found | confirmed | false | behind |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for one in joined:
        if not one.graphs:
            continue
        graphs = ", ".join(str(one.graphs.get(mode, "-")) for mode in MODES)
        broken = [line for line in one.lines if not line.consequence]
        found = sum(bool(line.by) for line in broken)
        judged = [v.outcome for v in one.verdicts if v.finding.confidence != "low"]
        counts = " | ".join(
            str(judged.count(outcome)) for outcome in ("confirmed", "false-alarm", "behind")
        )
        name = f"{one.model} (`{one.cls}`)"
        rows.append(f"| {name} | {one.family} | {graphs} | {len(broken)} | {found} | {counts} |")
    return "\n".join(rows) + "\n"


def _failures(joined: Sequence[Joined]) -> list[str]:
    return [
        f"- {one.model}, {mode}: {_cell(words)}"
        for one in joined
        for mode, words in one.failures.items()
    ]


def _grouped(items: Iterable[T], key: Callable[[T], str]) -> list[tuple[str, list[T]]]:
    """Most frequent first."""
    groups: dict[str, list[T]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))


def _named(models: Sequence[str]) -> str:
    more = len(models) - NAMED_MODELS
    named = ", ".join(models[:NAMED_MODELS])
    return f"{named} and {more} more" if more > 0 else named


def _code(text: str) -> str:
    return f"`{_cell(text)}`".replace("``", "`` ``") if text else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
