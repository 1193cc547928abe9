"""Settings that a compiled run confirms, for the breaks that fixes leave."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tclint.confirm.pace import Step
from tclint.confirm.trials import Items, Trials
from tclint.fix.results import Remedies
from tclint.records import record
from tclint.report.fixes.outcome import Ground, Worth
from tclint.torch_facts.dynamo_settings import SETTINGS, DynamoSetting, with_needed

if TYPE_CHECKING:
    from tclint.lint.engine import Run

Settings = frozenset[DynamoSetting]
_NONE: Settings = frozenset()


@record(frozen=True)
class Remedied:
    """What is kept of fixes and settings.

    ``trials`` have run all that is kept together. ``steps`` tell what each kind was good for.
    """

    trials: Trials
    kept: Items
    steps: tuple[Step, ...] = ()


def with_remedies(start: Remedied, wanted: Remedies, left: Run) -> Remedied:
    """Add the settings that leave fewer breaks; ``left`` is the check of what the fixes leave."""
    return _with_settings(start, _named(left)) if wanted.settings else start


def _named(left: Run) -> frozenset[str]:
    """The settings that findings name."""
    lines = {line for r in left.results for one in r.diagnostic.remedies for line in one.lines}
    return frozenset(one.name for one in SETTINGS.values() if one.line in lines)


def _known(names: Iterable[str]) -> Settings:
    return frozenset(with_needed(name for name in names if name in SETTINGS))


def _with_settings(done: Remedied, named: Iterable[str]) -> Remedied:
    """The fewest settings that help most, of those that torch or a finding names."""
    trials, kept = done.trials, done.kept
    if not trials.count(kept):
        return done
    known = _known({*trials.settings_named(kept), *named})
    each = (_known([one.name]) for one in known)
    sets = dict.fromkeys([known, *each])
    found = next((one for one in sets if one and _helps(trials, kept, one)), _NONE)
    found = _fewest(trials, kept, found)
    return _better(done, kept | found, "settings", found) if found else done


def _fewest(trials: Trials, kept: Items, found: Settings) -> Settings:
    """As few settings as leave no more breaks than those that were found to help."""
    for one in sorted(found, key=lambda setting: setting.name):
        fewer = found - {one}
        if fewer == _known(left.name for left in fewer) and fewer:
            helps = _helps(trials, kept, fewer)
            if helps and trials.count(kept | fewer) <= trials.count(kept | found):
                found = fewer
    return found


def _helps(trials: Trials, kept: Items, settings: Settings) -> bool:
    """True where nothing speaks against some settings and fewer breaks are left.

    One that was behind another may come up.
    """
    problems = trials.attempt(kept | settings)
    if problems is None or any(one.reason.ground is not Ground.NEW_BREAK for one in problems):
        return False
    return trials.count(kept | settings) < trials.count(kept)


def _better(done: Remedied, kept: Items, kind: str, settings: Settings) -> Remedied:
    was, now = done.trials.figures(done.kept), done.trials.figures(kept)
    lines = tuple(one.line for one in with_needed(one.name for one in settings))
    step = Step(Worth(kind, *was, *now, lines), done.trials, kept, done.kept)
    return Remedied(done.trials, kept, (*done.steps, step))
