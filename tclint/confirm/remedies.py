"""Settings and escape hatches that a compiled run confirms, for the breaks that fixes leave."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from tclint.confirm.pace import Step
from tclint.confirm.select import Search
from tclint.confirm.trials import Items, Trials, settings_in
from tclint.fix.results import FixKey, FixRun, Remedies
from tclint.records import record
from tclint.report.fixes.outcome import Ground, Reason, Worth
from tclint.torch_facts.dynamo_settings import SETTINGS, DynamoSetting, with_needed

if TYPE_CHECKING:
    from tclint.confirm.judge import Problems
    from tclint.lint.engine import Run

Settings = frozenset[DynamoSetting]
_NONE: Settings = frozenset()
_IDLE = Reason(Ground.NO_BREAK, "its line ran, and the graph did not break there")
_VAIN = Reason(Ground.STILL_BREAKS, "as many breaks are left with it")


@record(frozen=True)
class Remedied:
    """What is kept of fixes, settings and hatches; ``offered`` are the hatches tried.

    ``trials`` have run all that is kept together. ``steps`` tell what each kind was good for.
    """

    trials: Trials
    kept: Items
    steps: tuple[Step, ...] = ()
    offered: FixRun | None = None
    dropped: dict[FixKey, Reason] | None = None


def with_remedies(
    start: Remedied, wanted: Remedies, left: Run, offer: Callable[[Items], tuple[FixRun, Trials]]
) -> Remedied:
    """Add the settings, then the hatches that leave fewer breaks; what does not help is left out.

    ``left`` is the check of what the fixes leave. ``offer`` makes hatches beside what is kept.
    Settings that fail alone may hold when a hatch has hidden what they fail on, and a hatch may
    need what settings capture: where neither is enough, both are tried together.
    """
    done, named = start, _named(left)
    if wanted.settings:
        done = _with_settings(done, named)
    if wanted.hatches and done.trials.count(done.kept):
        offered, trials = offer(done.kept)
        done = _with_hatches(done, offered, trials)
        alone = bool(wanted.settings) and not settings_in(done.kept)
        if alone:
            done = _with_settings(done, named)
        if alone and not settings_in(done.kept) and done.trials.count(done.kept):
            done = _with_hatches(done, offered, trials, _known(SETTINGS))
    return done


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
    return _better(done, done.trials, kept | found, "settings", found) if found else done


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


def _with_hatches(
    done: Remedied, offered: FixRun, trials: Trials, settings: Settings = _NONE
) -> Remedied:
    """The hatches at whose lines the break is gone, beside some settings; as few as it takes."""
    beside, dropped = done.kept | settings, dict(done.dropped or {})
    keys = sorted({fix.key for fix in offered.fixes if fix.hatch} - done.kept)
    search = Search[FixKey](lambda some: _against(trials, beside | some))
    chosen = search.keep([key for key in keys if trials.ran(key)])
    dropped |= search.dropped
    chosen = _without_idle(done, trials, beside, chosen, dropped)
    chosen = _without_slow(trials, beside, chosen, dropped)
    kept = beside | chosen
    if not chosen or trials.count(kept) >= done.trials.count(done.kept):
        dropped |= dict.fromkeys(chosen, _VAIN)
        return Remedied(done.trials, done.kept, done.steps, offered, dropped)
    tried = Remedied(done.trials, done.kept, done.steps, offered, dropped)
    opened = done.kept | chosen
    if settings and trials.attempt(opened) is not None:
        settings = _fewest(trials, opened, settings)
    return _better(tried, trials, opened | settings, "hatches", settings)


def _against(trials: Trials, items: Items) -> Problems | None:
    """What speaks against a trial; a break that was behind another does not."""
    problems = trials.attempt(items)
    if problems is None:
        return None
    return [one for one in problems if one.blamed or one.reason.ground is not Ground.NEW_BREAK]


def _without_idle(
    done: Remedied,
    trials: Trials,
    beside: Items,
    chosen: frozenset[FixKey],
    dropped: dict[FixKey, Reason],
) -> frozenset[FixKey]:
    """Leave out the hatches at whose lines nothing broke, unless it breaks more without them."""
    places = [breaks for _, breaks in done.trials.breaks(done.kept)]
    met = frozenset(
        key
        for key in chosen
        if any(judge.at(key, at) for judge, at in zip(trials.judges, places, strict=False))
    )
    if met == chosen or not met or _against(trials, beside | met) != []:
        return chosen
    if trials.count(beside | met) > trials.count(beside | chosen):
        return chosen
    dropped |= dict.fromkeys(chosen - met, _IDLE)
    return met


def _without_slow(
    trials: Trials, beside: Items, chosen: frozenset[FixKey], dropped: dict[FixKey, Reason]
) -> frozenset[FixKey]:
    """Leave out the hatches that eager code pays for."""
    if not chosen or not trials.slower(beside | chosen):
        return chosen

    def attempt(some: Collection[FixKey]) -> Problems | None:
        problems = _against(trials, beside | frozenset(some))
        return problems if problems != [] else trials.slower(beside | frozenset(some))

    search = Search[FixKey](attempt)
    rest = search.keep(sorted(chosen))
    dropped |= search.dropped
    return rest


def _better(done: Remedied, trials: Trials, kept: Items, kind: str, settings: Settings) -> Remedied:
    was, now = done.trials.figures(done.kept), trials.figures(kept)
    lines = tuple(one.line for one in with_needed(one.name for one in settings))
    steps = (*done.steps, Step(Worth(kind, *was, *now, lines), trials, kept, done.kept))
    return Remedied(trials, kept, steps, done.offered, done.dropped)
