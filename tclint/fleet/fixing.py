"""``tclint fleet fix``: the fixes that a fleet's targets confirm, as a branch to be merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tclint.confirm.confirm import Plan as Trial
from tclint.confirm.confirm import Show, confirm
from tclint.confirm.trials import Fixer
from tclint.files import read_bytes
from tclint.fix.results import NO_REMEDIES, FixedFile, FixKey
from tclint.fleet.config import Arm, Fleet, FleetError
from tclint.fleet.environment import package_file
from tclint.fleet.measure import options_of
from tclint.fleet.plan import planned
from tclint.fleet.pull_request import LeftOut, Part, Proof, Wanted, commit_message, pull_request
from tclint.fleet.session import Again, known_result
from tclint.fleet.store import Store
from tclint.fleet.units import FAILED, Unit
from tclint.git.branch import NewCommit, head_of, make_branch, require_committed, require_free
from tclint.records import record
from tclint.report.fixes.outcome import Outcome, Status
from tclint.source.write import NewText, encoded
from tclint.verify.session import Job


@record(frozen=True)
class Fixed:
    """What came of it: the commits, the oldest first, and the text of the pull request."""

    commits: tuple[str, ...]
    text: str


@record(frozen=True)
class _Judges:
    """The targets that confirm fixes, and those that cannot, with the reasons."""

    jobs: tuple[Job, ...]
    left_out: tuple[LeftOut, ...]
    torch: str
    device: str


def fix_fleet(fleet: Fleet, store: Store, fixer: Fixer, wanted: Wanted, show: Show) -> Fixed:
    """Make a branch with the fixes that all targets confirm together, a commit for each rule.

    Targets are those that ran: what the store knows says so. The working tree stays as it is.

    Raises:
        FleetError: no target can judge, or no fix is confirmed.
        GitError: files are not committed, or the branch cannot be made.
    """
    require_free(fleet.root, wanted.branch)
    base = head_of(fleet.root)
    judges = _judges(fleet, store)
    most = wanted.most_runs * len(judges.jobs)
    trial = Trial(fixer, judges.jobs, fleet.root, most, loaded_only=True)
    outcome = confirm(trial, Status.OFFERED, show)
    if not outcome.kept:
        raise FleetError("no fix is confirmed by the targets: there is nothing to commit")
    require_committed(fleet.root, [file.path for file in outcome.changed])
    parts = tuple(_parts(outcome, fixer))
    commits = [NewCommit(commit_message(part, fleet.root), part.contents) for part in parts]
    made = make_branch(fleet.root, wanted.branch, commits)
    proof = Proof(wanted, base, judges.torch, judges.device, parts, outcome, judges.left_out)
    return Fixed(made, pull_request(proof, fleet.root))


def _judges(fleet: Fleet, store: Store) -> _Judges:
    found = [arm for arm in fleet.arms if not arm.fixed and not arm.revision]
    arm = found[0] if found else Arm("as found")
    jobs, left_out = [], []
    with planned(replace(fleet, arms=(arm,))) as (plan, trees):
        for unit, measured in plan.hopeless:
            left_out.append(LeftOut(unit.target, measured.reason))
        for unit in plan.units:
            number = known_result(unit, store, trees, Again())
            if reason := _foreign(unit, fleet.root) or _unfit(store, number):
                left_out.append(LeftOut(unit.target, reason))
            else:
                jobs.append(Job(unit.target, unit.text, options_of(unit)))
    if not jobs:
        said = "; ".join(f"{one.target}: {one.reason}" for one in left_out[:3])
        raise FleetError(f"no target can judge fixes: {said}")
    environment = plan.arms[0].environment
    return _Judges(tuple(jobs), tuple(left_out), environment.torch, fleet.measures.device)


def _foreign(unit: Unit, root: Path) -> str:
    """Why the code of a target is not what a branch could change; empty where it is."""
    if not unit.package:
        return ""
    file = Path(package_file(unit.python, unit.package))
    return "" if root in file.resolve().parents else f"{unit.package} is not installed from here"


def _unfit(store: Store, number: int | None) -> str:
    """Why a target that came to this result cannot judge; empty where it can."""
    if number is None:
        return "not measured as it is now: tclint fleet run does"
    measured = store.result(number)
    if measured.outcome == FAILED:
        return f"{measured.failure}: {measured.reason}"
    return "not deterministic" if measured.verdict == "not-deterministic" else ""


def _parts(outcome: Outcome, fixer: Fixer) -> Sequence[Part]:
    """The kept fixes by rule, each with what the files hold once it and those before are there."""
    kept = {one.fix.key: one for one in outcome.kept}
    done: set[FixKey] = set()
    parts: list[Part] = []
    codes = sorted({key.code for key in kept})
    for code in codes:
        mine = {key: one for key, one in sorted(kept.items()) if key.code == code}
        done |= mine.keys()
        last = code == codes[-1]
        files = outcome.changed if last else fixer(done.__contains__, NO_REMEDIES).changed
        contents = {file.path: _content(file) for file in files}
        before = parts[-1].contents if parts else {}
        new = {path: text for path, text in contents.items() if before.get(path) != text}
        if new:
            parts.append(Part(code, tuple(mine.values()), contents))
    return parts


def _content(file: FixedFile) -> bytes:
    return encoded(NewText(file.path, file.after, file.encoding), lambda: read_bytes(file.path))
