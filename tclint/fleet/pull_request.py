"""The text of a pull request with fixes: what they are, and the tables that prove them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from tclint.fleet.report.as_markdown import table
from tclint.fleet.report.sections import Section
from tclint.lint.registry import rule_by_code
from tclint.records import record
from tclint.report.fixes.outcome import Outcome, ReportedFix, VerifiedTarget
from tclint.report.project import NAME
from tclint.report.view import count

_ARROW = "\N{RIGHTWARDS ARROW}"


@record(frozen=True)
class LeftOut:
    """A target that could not judge fixes, with the reason."""

    target: str
    reason: str


@record(frozen=True)
class Part:
    """The kept fixes of one rule; ``contents`` is what files hold with them and those before."""

    code: str
    fixes: tuple[ReportedFix, ...]
    contents: Mapping[Path, bytes]


@record(frozen=True)
class Wanted:
    """What is asked for: of which file, on which branch, in how many runs for each target."""

    file: Path
    branch: str
    most_runs: int


@record(frozen=True)
class Proof:
    """All that a pull request tells."""

    wanted: Wanted
    base: str
    torch: str
    device: str
    parts: tuple[Part, ...]
    outcome: Outcome
    left_out: tuple[LeftOut, ...]

    @property
    def targets(self) -> tuple[VerifiedTarget, ...]:
        """What became of the targets."""
        assert self.outcome.verification is not None
        return self.outcome.verification.targets


def commit_message(part: Part, root: Path) -> str:
    """What was done for one rule, and where, with the reason of each fix."""
    lines = [_title(part), ""]
    lines += [f"- {_place(one, root)}: {_why(one)}" for one in part.fixes]
    return "\n".join(lines) + "\n"


def pull_request(proof: Proof, root: Path) -> str:
    """The text, as Markdown; its first line is the title."""
    sections = (
        _commits(proof.parts),
        _targets(proof),
        _fixes(proof, root),
        _dropped(proof.outcome, root),
        _left_out(proof.left_out),
    )
    tables = [table(section) for section in sections if section.rows]
    return "\n\n".join([f"# {_headline(proof)}", _summary(proof), *tables, _again(proof)]) + "\n"


def _headline(proof: Proof) -> str:
    gone = _breaks(proof)[0] - _breaks(proof)[1]
    better = sum(one.breaks_after < one.breaks_before for one in proof.targets)
    return f"Remove {count(gone, 'graph break')} in {count(better, 'model')}"


def _summary(proof: Proof) -> str:
    before, after = _breaks(proof)
    whole = sum(bool(one.breaks_before) and not one.breaks_after for one in proof.targets)
    assert proof.outcome.verification is not None
    runs = proof.outcome.verification.runs
    return (
        f"`torch.compile` breaks the graphs of {count(len(proof.targets), 'model')} "
        f"{count(before, 'time')} without these changes and {count(after, 'time')} with them; "
        f"{whole} of them now compile{'s' if whole == 1 else ''} as one graph. With the same "
        "weights and inputs, compiled runs of the models give the same results, exceptions and "
        "state with these changes and without; the reason why each was kept is given beside it. "
        f"Measured with torch {proof.torch} on {proof.device}, in {count(runs, 'run')}, on top "
        f"of {proof.base[:12]}."
    )


def _breaks(proof: Proof) -> tuple[int, int]:
    targets = proof.targets
    return sum(one.breaks_before for one in targets), sum(one.breaks_after for one in targets)


def _title(part: Part) -> str:
    places = count(len(part.fixes), "place")
    return f"{part.code} {rule_by_code(part.code).name}: {places}"


def _commits(parts: Sequence[Part]) -> Section:
    rows = tuple(
        (part.code, rule_by_code(part.code).name, rule_by_code(part.code).summary,
         str(len(part.fixes)))
        for part in parts
    )  # fmt: skip
    return Section("Commits", ("rule", "name", "what was wrong", "places"), rows, (3,))


def _targets(proof: Proof) -> Section:
    rows = tuple(
        (one.name, f"{one.breaks_before} {_ARROW} {one.breaks_after}", one.results)
        for one in proof.targets
    )
    return Section("Models", ("model", "graph breaks", "results"), rows, (1,))


def _fixes(proof: Proof, root: Path) -> Section:
    rows = tuple(
        (_place(one, root), one.fix.diagnostic.code, one.fix.message, _why(one))
        for part in proof.parts
        for one in part.fixes
    )
    return Section("Changes", ("place", "rule", "change", "why it was kept"), rows)


def _dropped(outcome: Outcome, root: Path) -> Section:
    rows = tuple(
        (_place(one, root), one.fix.diagnostic.code, one.fix.message, _why(one))
        for one in outcome.dropped
    )
    return Section("Changes that were not kept", ("place", "rule", "change", "reason"), rows)


def _left_out(left_out: Sequence[LeftOut]) -> Section:
    rows = tuple((one.target, one.reason) for one in left_out)
    return Section("Models that could not judge the changes", ("model", "reason"), rows)


def _again(proof: Proof) -> str:
    return (
        f"Made by `{NAME} fleet fix`. To measure it again:\n\n"
        f"```console\n$ git checkout {proof.wanted.branch}\n"
        f"$ {NAME} fleet run {proof.wanted.file.name}\n$ {NAME} fleet report\n```"
    )


def _place(one: ReportedFix, root: Path) -> str:
    found = one.fix.diagnostic
    path = Path(os.path.relpath(found.path, root)).as_posix()
    return f"{path}:{found.span.start.row}"


def _why(one: ReportedFix) -> str:
    return one.reason.text if one.reason is not None else ""
