"""Find the commit that made a target worse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tclint.fleet.carry import carry_out
from tclint.fleet.changes import Kind, changes
from tclint.fleet.config import Arm, Fleet, FleetError
from tclint.fleet.plan import Plan, planned, with_code
from tclint.fleet.session import Again, CrewFor, known_result
from tclint.fleet.store import Store, UnitRow, driving, open_store
from tclint.fleet.units import Measured
from tclint.git.run import Call, GitError, ask, in_repository
from tclint.records import record

Tell = Callable[[str, Measured], None]
"""Is told each revision with what it came to."""


@record(frozen=True)
class Found:
    """The first commit at which the target is worse than it was at the good revision."""

    commit: str
    subject: str
    change: str


def bisect(
    fleet: Fleet, crew_for: CrewFor, target: str, arm: str, ends: tuple[str, str], tell: Tell
) -> Found:
    """Halve the commits between a good and a bad revision until one is left.

    Raises:
        FleetError: there is no such target or arm, or the bad revision is not worse.
    """
    chosen = _arm(fleet, arm)
    here = in_repository(fleet.root)
    commits = _commits(here, *ends)
    with driving(fleet.store), open_store(fleet.store, create=True) as store:

        def measure(revision: str) -> Measured:
            arms = (replace(chosen, revision=revision),)
            measured = _measured(replace(fleet, arms=arms), store, crew_for, target)
            tell(revision, measured)
            return measured

        good = measure(_commit(here, ends[0]))
        worse = _worse(good, measure(commits[-1]))
        if not worse:
            raise FleetError(f"{target} is not worse in {ends[1]} than in {ends[0]}")
        low, high = 0, len(commits) - 1
        while low < high:
            middle = (low + high) // 2
            found = _worse(good, measure(commits[middle]))
            if found:
                worse, high = found, middle
            else:
                low = middle + 1
    subject = ask(here, "show", "--no-patch", "--format=%s", commits[high])
    return Found(commits[high], subject.decode("utf-8", "replace").strip(), worse)


def _arm(fleet: Fleet, name: str) -> Arm:
    found = next((arm for arm in fleet.arms if not name or arm.name == name), None)
    if found is None:
        known = ", ".join(arm.name for arm in fleet.arms)
        raise FleetError(f"there is no arm {name!r}; the file has {known}")
    return found


def _commit(here: Call, revision: str) -> str:
    wanted = f"{revision}^{{commit}}"
    try:
        said = ask(here, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
    except GitError as error:
        raise FleetError(f"{revision!r} is not a revision of {here.folder}") from error
    return said.decode("ascii").split()[-1]


def _commits(here: Call, good: str, bad: str) -> list[str]:
    """The commits after the good one, on the first parents' line, the oldest first."""
    first, last = _commit(here, good), _commit(here, bad)
    said = ask(here, "rev-list", "--first-parent", "--reverse", last, f"^{first}")
    commits = said.decode("ascii").split()
    if not commits:
        raise FleetError(f"there is no commit between {good} and {bad}")
    return commits


def _measured(fleet: Fleet, store: Store, crew_for: CrewFor, target: str) -> Measured:
    """What the store knows of the target, or else measures now."""
    with planned(fleet) as (plan, trees):
        units = [unit for unit in plan.units if unit.target == target]
        if not units:
            raise FleetError(f"there is no target {target!r}")
        known = known_result(units[0], store, trees, Again())
        if known is not None:
            return store.result(known)
        only = Plan(plan.arms, tuple(units))
        with crew_for(only) as crew:
            ((unit, measured),) = carry_out(units, crew)
        store.keep(None, unit, with_code(unit, measured, trees))
    return measured


def _worse(good: Measured, now: Measured) -> str:
    """What is worse now, in words; empty if nothing is."""
    pair = (UnitRow("", "", "", good),), (UnitRow("", "", "", now),)
    return "; ".join(one.what for one in changes(*pair) if one.kind is Kind.WORSE)
