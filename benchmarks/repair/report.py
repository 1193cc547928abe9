"""The table, as text and as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.repair.reasons import left_by_reason
from benchmarks.repair.record import (
    AFTER,
    ROUNDED,
    SAME,
    SETTINGS,
    UNSAFE,
    VERIFIED,
    Measured,
)
from benchmarks.repair.rows import Row
from benchmarks.repair.tree import Fixed

HEAD = (
    "model", "breaks", "one graph", "eager", "compiled", "messages", "recompiles", "inductor",
    "seconds",
)  # fmt: skip

_TIERS = {
    AFTER: "safe fixes",
    UNSAFE: "and unsafe fixes",
    SETTINGS: "and settings",
    VERIFIED: "as `fix --verify` keeps them",
}
INTRODUCTION = """\
# `tclint fix` on real models

<!-- Written by `make bench-repair`; do not edit. -->

Safe fixes, for the release of torch that measures, are applied to a copy of the installed package,
which is put first on the path. Each model is made tiny, with random weights that are loaded
strictly before and after the fixes, and runs in its own process: a backend that only counts graphs,
`dynamic=False`, without gradients in eval mode and with them in train mode. Breaks are the graphs
of the first call beyond the first.

- **one graph**: whether `fullgraph=True` compiles it, before and after; a dash where nothing broke.
- **eager**, **compiled**: results of two calls, gradients, buffers and the state of the random
  generator after fixing, compared bit for bit with eager code before fixing.
- **messages**: what eager code logs and warns, in order.
- **recompiles**: those of the second call, before and after.
- **inductor**: the default backend after fixing compared with eager code, and the largest
  difference.

With `--tiers`, the rows that still break are measured again: with unsafe fixes, then with
`capture_scalar_outputs`, `capture_dynamic_output_shape_ops` and `allow_rnn` on. From unsafe fixes
on, findings of low confidence are fixed, too, as `tclint fix --verify` does. A row keeps what a
tier does if it breaks less often and its results are the same, bit for bit or within rounding.
Rounding is judged as in `tclint verify`: the fixed code may be no further from the old code's
results in float64 than the old code itself is. An unsafe fix may also have compiled code draw with
torch what eager code draws with numpy. Such code counts as the same if it gives what the fixed code
gives without a compiler on the same way, and if the losses of 60 seeds have the mean (within four
standard errors) and the spread (within a factor of two) of those of eager code. Settings are also
tried with the safe fixes alone. So far a row keeps all of a tier, or nothing. Last, with `--tiers
verified`, the rows that still break go through `tclint fix --verify --unsafe-fixes --remedies
settings`, which chooses among fixes and settings, and are measured as it leaves them.
"""


@dataclass(frozen=True, slots=True)
class Report:
    """Both arms of every row, and what the fixes changed."""

    title: str
    rows: Sequence[Row]
    before: Mapping[str, Measured]
    after: Mapping[str, Measured]
    fixed: Fixed

    def pairs(self) -> Iterator[tuple[Measured, Measured]]:
        """The rows that ran in both arms."""
        for row in self.rows:
            before, after = self.before[row.name], self.after[row.name]
            if before.failure is None and after.failure is None:
                yield before, after

    @property
    def torch(self) -> str:
        """The version that the rows were measured with."""
        found = {after.versions.get("torch", "").partition("+")[0] for _, after in self.pairs()}
        return ", ".join(sorted(found))

    @property
    def lost(self) -> list[str]:
        """Rows that ran before fixing and do not afterwards, with the reason."""
        return [
            f"{row.name}: {self.after[row.name].failure}"
            for row in self.rows
            if self.before[row.name].failure is None and self.after[row.name].failure is not None
        ]

    @property
    def unequal(self) -> list[str]:
        """What differs after fixing where it must not."""
        found = []
        for before, after in self.pairs():
            for what in ("eager", "compiled", "messages"):
                answer = getattr(after, what)
                if answer != SAME and getattr(before, what) == SAME:
                    found.append(f"{after.row}, {what}: {answer}")
            if after.recompiles > before.recompiles:
                found.append(f"{after.row}: {after.recompiles} recompiles on the second call")
        return found

    @property
    def sound(self) -> bool:
        """True when nothing is lost, unequal or broken."""
        return not (self.lost or self.unequal or self.fixed.broken)


def summary(report: Report) -> str:
    """The totals."""
    pairs = [*report.pairs()]
    before, after = (sum(pair[arm].breaks for pair in pairs) for arm in (0, 1))
    share = 1 - after / before if before else 1.0
    whole = sum(not pair[1].breaks for pair in pairs if pair[0].breaks)
    edited = report.fixed.edited
    edits = f"{sum(one.edits for one in edited)} in {len(edited)} of {report.fixed.files} files"
    wrong = [len(found) for found in (report.unequal, report.lost, report.fixed.broken)]
    return "\n".join(
        [
            f"torch       {report.torch}, on the CPU",
            f"rows        {len(pairs)} measured, {len(report.rows) - len(pairs)} did not run",
            f"breaks      {before} -> {after} ({share:.1%} removed)",
            f"one graph   {whole} of {sum(bool(p[0].breaks) for p in pairs)} rows that broke",
            f"edits       {edits}, {report.fixed.seconds:.0f} s",
            "not equal   {}; lost {}; imports broken {}".format(*wrong),
        ]
    )


def text(report: Report) -> str:
    """What the command prints."""
    lines = ["  ".join(cells) for cells in _aligned([HEAD, *map(_cells, report.pairs())])]
    for title, found in (
        ("not equal", report.unequal),
        ("lost", report.lost),
        ("imports broken", report.fixed.broken),
        ("left", [f"{number} x {site}" for site, number in _left(report).most_common()]),
    ):
        lines += ["", f"{title}:", *found] if found else []
    return "\n".join([*lines, "", summary(report)])


def page(report: Report) -> str:
    """The table as Markdown."""
    rows = [_cells(pair) for pair in report.pairs()]
    table = [f"| {' | '.join(cells)} |" for cells in (HEAD, ["---"] * len(HEAD), *rows)]
    left = [
        f"| {number} | `{file}:{row}` | {reason} |"
        for (file, row, reason), number in _left(report).most_common()
    ]
    head = ["| rows | line | reason |", "| --- | --- | --- |"] if left else ["None."]
    return "\n".join(
        [
            f"## {report.title}, torch {report.torch}", "",
            "```text", summary(report), "```", "", *table, "",
            "### Breaks that are left", "", *head, *left, "",
        ]
    )  # fmt: skip


def _cells(pair: tuple[Measured, Measured]) -> list[str]:
    before, after = pair
    return [
        after.row,
        f"{before.breaks} -> {after.breaks}",
        f"{before.fullgraph} -> {after.fullgraph}" if before.fullgraph else "-",
        after.eager,
        after.compiled,
        after.messages,
        f"{before.recompiles} -> {after.recompiles}",
        after.inductor or "-",
        f"{after.seconds:.0f}",
    ]


def is_better(one: Measured, kept: Measured | None) -> bool:
    """True where a row breaks less often, and eager and compiled code do what they did.

    After more than safe fixes, numbers may be equal within rounding.
    """
    if kept is None or one.failure is not None or one.breaks >= kept.breaks:
        return False
    numbers = all(_is_kept(getattr(one, way), getattr(kept, way)) for way in ("eager", "compiled"))
    return numbers and one.messages in (SAME, kept.messages) and one.recompiles <= kept.recompiles


def _is_kept(one: str, kept: str) -> bool:
    return one in (SAME, kept) or one.startswith(ROUNDED)


def tiers_table(report: Report, arms: Mapping[str, Mapping[str, Measured]]) -> str:
    """The breaks that each tier leaves, and the rows that it makes whole, as Markdown."""
    names = [before.row for before, _ in report.pairs() if before.breaks]
    found = [report.before[name].breaks for name in names]
    lines = [f"| as found | {sum(found)} | 0 of {len(names)} |"]
    for tier, measured in arms.items():
        left = [measured[name].breaks for name in names]
        lines.append(f"| {_TIERS[tier]} | {sum(left)} | {left.count(0)} of {len(names)} |")
    head = ["### Tiers", "", "| | breaks | whole |", "| --- | --- | --- |"]
    parts = [*head, *lines, "", *_by_row(report, names, arms), ""]
    if report.title.endswith(", catalogue"):
        told = {_TIERS[tier]: kept for tier, kept in arms.items()}
        parts.append(left_by_reason(names, dict(zip(names, found, strict=True)), told))
    return "\n".join(parts)


def _by_row(
    report: Report, names: Sequence[str], arms: Mapping[str, Mapping[str, Measured]]
) -> Iterator[str]:
    """The breaks of each row after each tier, those with most left first, and its results."""
    last = [*arms.values()][-1]
    heads = ["row", "as found", *(_TIERS[tier] for tier in arms), "results"]
    yield from (f"| {' | '.join(heads)} |", f"| {' | '.join(['---'] * len(heads))} |")
    for name in sorted(names, key=lambda name: -last[name].breaks):
        counts = [report.before[name].breaks, *(kept[name].breaks for kept in arms.values())]
        yield f"| {name} | {' | '.join(map(str, counts))} | {last[name].eager} |"


def _left(report: Report) -> Counter[tuple[str, int, str]]:
    return Counter(
        (site.file, site.row, site.reason.splitlines()[0][:80])
        for _, after in report.pairs()
        for site in after.sites
    )


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield [cell[:60].ljust(min(width, 60)) for cell, width in zip(row, widths, strict=True)]
