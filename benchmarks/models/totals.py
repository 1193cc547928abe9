"""All models together: every line and every finding once, whichever models met them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.models.join import BreakLine, Joined
from benchmarks.models.static import Predicted

# What a finding came to in one model outweighs what it came to in another, in this order.
OUTCOMES = ("confirmed", "false-alarm", "behind")


@dataclass(frozen=True, slots=True)
class LineSeen:
    """A broken line with the models that it broke."""

    line: BreakLine
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FindingSeen:
    """A finding with its outcome, and the models that ran its line."""

    finding: Predicted
    outcome: str
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Totals:
    """The benchmark's figures.

    A finding of low confidence says that it depends on a setting: those are counted apart.
    """

    lines: tuple[LineSeen, ...]
    findings: tuple[FindingSeen, ...]
    whole: tuple[Joined, ...]

    @property
    def broken(self) -> list[LineSeen]:
        """The lines that count: those that do not break only because of another one."""
        return [seen for seen in self.lines if not seen.line.consequence]

    @property
    def missed(self) -> list[LineSeen]:
        """The lines that no finding names."""
        return [seen for seen in self.broken if not seen.line.by]

    @property
    def recall(self) -> Share:
        """Of the broken lines, how many were found before running."""
        return Share(len(self.broken) - len(self.missed), len(self.broken))

    def judged(self, outcome: str, *, low: bool = False) -> list[FindingSeen]:
        """The findings with an outcome, of low confidence or of the others."""
        return [
            seen
            for seen in self.findings
            if seen.outcome == outcome and (seen.finding.confidence == "low") == low
        ]

    @property
    def precision(self) -> Share:
        """Of the findings at lines that ran, how many broke there."""
        confirmed = len(self.judged("confirmed"))
        return Share(confirmed, confirmed + len(self.judged("false-alarm")))

    @property
    def loud(self) -> list[tuple[Joined, list[Predicted]]]:
        """Models that compile whole, although findings of high confidence say otherwise."""
        wrong = [(one, _sure(one)) for one in self.whole]
        return [(one, findings) for one, findings in wrong if findings]


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many."""

    part: int
    of: int

    def __str__(self) -> str:
        percent = f" ({100 * self.part / self.of:.1f}%)" if self.of else ""
        return f"{self.part}/{self.of}{percent}"


def total(joined: Sequence[Joined]) -> Totals:
    """Put the models together."""
    return Totals(
        tuple(_lines(joined)),
        tuple(_findings(joined)),
        tuple(one for one in joined if one.whole),
    )


def _sure(joined: Joined) -> list[Predicted]:
    return [one.finding for one in joined.verdicts if one.finding.confidence == "high"]


def _lines(joined: Sequence[Joined]) -> Iterable[LineSeen]:
    seen: dict[tuple[str, int], list[tuple[str, BreakLine]]] = defaultdict(list)
    for one in joined:
        for line in one.lines:
            seen[line.file, line.row].append((one.model, line))
    for _, here in sorted(seen.items()):
        # A line that one model shows to break by itself is no mere consequence.
        line = min((line for _, line in here), key=lambda line: line.consequence)
        yield LineSeen(line, tuple(model for model, _ in here))


def _findings(joined: Sequence[Joined]) -> Iterable[FindingSeen]:
    seen: dict[Predicted, list[tuple[str, str]]] = defaultdict(list)
    for one in joined:
        for verdict in one.verdicts:
            seen[verdict.finding].append((one.model, verdict.outcome))
    for finding, here in sorted(seen.items(), key=lambda item: (item[0].file, item[0].row)):
        outcome = min((outcome for _, outcome in here), key=OUTCOMES.index)
        yield FindingSeen(finding, outcome, tuple(model for model, _ in here))
