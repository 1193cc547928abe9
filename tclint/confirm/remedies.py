"""Settings and escape hatches that a compiled run confirms, for the breaks that fixes leave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from tclint.confirm.select import Search
from tclint.confirm.trials import Items, Trials, settings_in
from tclint.fix.results import FixKey, FixRun, Remedies
from tclint.records import record
from tclint.report.fixes.outcome import Ground, Reason, Worth
from tclint.torch_facts.dynamo_settings import SETTINGS, DynamoSetting, with_needed

if TYPE_CHECKING:
    from tclint.lint.engine import Run

_NONE: frozenset[DynamoSetting] = frozenset()


@record(frozen=True)
class Remedied:
    """What is kept of fixes, settings and hatches; ``offered`` are the hatches tried.

    ``trials`` have run all that is kept together. ``worth`` tells what each kind was good for.
    """

    trials: Trials
    kept: Items
    worth: tuple[Worth, ...] = ()
    offered: FixRun | None = None
    dropped: dict[FixKey, Reason] | None = None


def with_remedies(
    start: Remedied, wanted: Remedies, left: Run, offer: Callable[[Items], tuple[FixRun, Trials]]
) -> Remedied:
    """Add the settings, then the hatches that leave fewer breaks; what does not help is left out.

    ``left`` is the check of what the fixes leave. ``offer`` makes hatches beside what is kept.
    Settings that fail alone may hold when a hatch has hidden what they fail on.
    """
    done = start
    if wanted.settings:
        done = _with_settings(done, _named(left))
    if wanted.hatches and done.trials.count(done.kept):
        done = _with_hatches(done, *offer(done.kept))
        if wanted.settings and not settings_in(done.kept):
            done = _with_settings(done, _named(left))
    return done


def _named(left: Run) -> frozenset[str]:
    """The settings that findings name."""
    lines = {line for r in left.results for one in r.diagnostic.remedies for line in one.lines}
    return frozenset(one.name for one in SETTINGS.values() if one.line in lines)


def _with_settings(done: Remedied, named: Iterable[str]) -> Remedied:
    """The fewest settings that help most, of those that torch or a finding names."""
    trials, kept = done.trials, done.kept
    if not trials.count(kept):
        return done
    asked = {*trials.settings_named(kept), *named}
    known = with_needed(name for name in asked if name in SETTINGS)
    each = (frozenset(with_needed([one.name])) for one in known)
    sets = dict.fromkeys([frozenset(known), *each])
    found = next((one for one in sets if one and _helps(trials, kept, one)), _NONE)
    for one in sorted(found, key=lambda setting: setting.name):
        fewer = found - {one}
        if fewer == frozenset(with_needed(left.name for left in fewer)) and fewer:
            helps = _helps(trials, kept, fewer)
            if helps and trials.count(kept | fewer) <= trials.count(kept | found):
                found = fewer
    if not found:
        return done
    lines = tuple(one.line for one in with_needed(one.name for one in found))
    return _better(done, kept | found, "settings", lines)


def _helps(trials: Trials, kept: Items, settings: frozenset[DynamoSetting]) -> bool:
    """True where nothing speaks against some settings and fewer breaks are left.

    One that was behind another may come up.
    """
    problems = trials.attempt(kept | settings)
    if problems is None or any(one.reason.ground is not Ground.NEW_BREAK for one in problems):
        return False
    return trials.count(kept | settings) < trials.count(kept)


def _with_hatches(done: Remedied, offered: FixRun, trials: Trials) -> Remedied:
    """The hatches at whose lines the break is gone."""
    keys = sorted(fix.key for fix in offered.fixes if fix.hatch)
    search = Search[FixKey](lambda some: trials.attempt(done.kept | some))
    kept = done.kept | search.keep(keys)
    tried = Remedied(trials, done.kept, done.worth, offered, search.dropped)
    if kept == done.kept:
        return Remedied(done.trials, done.kept, done.worth, offered, search.dropped)
    return _better(tried, kept, "hatches", (), before=done.trials)


def _better(
    done: Remedied, kept: Items, kind: str, lines: Sequence[str], before: Trials | None = None
) -> Remedied:
    was = (before or done.trials).figures(done.kept)
    worth = Worth(kind, *was, *done.trials.figures(kept), tuple(lines))
    return Remedied(done.trials, kept, (*done.worth, worth), done.offered, done.dropped)
