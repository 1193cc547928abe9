"""The verdict: in a few sentences where the time goes, what was lost, what compiling brings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tclint.report.rounded import rounded
from tclint.run.account import GPU, Group
from tclint.run.host import LOADING, Part
from tclint.run.intervals import Interval
from tclint.run.loading import loading_moves
from tclint.run.outlook import KernelClass, Tried
from tclint.run.report import words
from tclint.run.session import Answer
from tclint.run.verdict import (
    MODEL,
    Lost,
    compile_share,
    compiles_much,
    few_steps,
    lacks,
    lost,
    model_share,
    slight,
)

NOTHING = "nothing is worth a change: "
_TOLD = 0.05
"""The share of a step from which on the verdict names what has it."""
_HELD = 1.25
_LISTED = 0.01
_OFFER = "`--try-compile` measures what that would bring"
_LEARNS = (Part.FORWARD.value, Part.BACKWARD.value)


def verdict(answer: Answer, root: Path) -> tuple[str, ...]:
    """The sentences, the most important first; none where nothing was recorded of any step."""
    found = [_lost(one, root) for one in lost(answer)]
    if answer.priced:
        found += filter(None, [_shares(answer, root), *_compiling(answer), *_rest(answer)])
    return tuple(f"{one[:1].upper()}{one[1:]}." for one in found)


def _lost(one: Lost, root: Path) -> str:
    since = f" since step {one.step}" if one.step is not None else ""
    name = f"`{one.function}` runs" if one.function else "A function runs"
    return (
        f"{name} eagerly{since}: it was compiled again too often, because of "
        f"{words.place(one.event, root)} ({words.guard(one.event)}); "
        f"{rounded(one.seconds, 3)} s of compiling wasted"
    )


def _shares(answer: Answer, root: Path) -> str:
    account = answer.account
    told = []
    for group in account.groups:
        if group.kind not in _LEARNS and account.share(group.ms) >= _TOLD:
            told.append((group.ms, f"{account.share(group.ms):.0%} {group_words(group, root)}"))
    learns = [group for group in account.groups if group.kind in _LEARNS]
    if learns:
        told.append((sum(group.ms for group in learns), _model(answer, learns)))
    rest = account.share(account.unexplained)
    parts = [one for _, one in sorted(told, key=lambda one: -one[0])]
    if rest >= _LISTED:
        parts.append(f"{rest:.0%} unexplained")
    return f"A step takes {rounded(account.mean, 3)} ms: {', '.join(parts)}" if parts else ""


def _model(answer: Answer, groups: Sequence[Group]) -> str:
    account = answer.account
    ms = {kind: sum(g.ms for g in groups if g.kind == kind) for kind in _LEARNS}
    parts = [f"{kind} {account.share(ms[kind]):.0%}" for kind in _LEARNS if ms[kind]]
    beside = " while the GPU is idle" if answer.first and answer.first.activity else ""
    inner = f" ({', '.join(parts)})" if len(parts) > 1 else ""
    return f"{account.share(sum(ms.values())):.0%} the model itself{beside}{inner}"


def group_words(group: Group, root: Path) -> str:
    """What a group does, and where."""
    if group.kind == GPU:
        return group.name
    where = ""
    if group.place is not None and group.place[1]:
        where = words.at(*group.place, root)
    what = group.name or group.kind
    if group.kind == LOADING and group.details:
        what = f"loading, mostly {group.details[0][0]}"
    often = "" if group.every is None else f"every {group.every:.0f} steps"
    inner = ", ".join(filter(None, (where, often)))
    return f"{what} ({inner})" if inner else what


def listed(answer: Answer, root: Path) -> Iterator[tuple[str, str, str]]:
    """All groups that are told of: share, milliseconds of a step, and words; they add up to all."""
    account = answer.account
    small = account.mean - sum(g.ms for g in account.groups if account.share(g.ms) >= _LISTED)
    small -= account.unexplained
    for group in account.groups:
        if account.share(group.ms) >= _LISTED:
            once = f", {rounded(group.once, 3)} ms then" if group.every is not None else ""
            yield _row(answer, group.ms, f"{group_words(group, root)}{once}")
    if account.share(small) >= _LISTED / 2:
        yield _row(answer, small, "what takes less than 1% each")
    yield _row(answer, account.unexplained, "unexplained")


def _row(answer: Answer, ms: float, told: str) -> tuple[str, str, str]:
    return f"{answer.account.share(ms):.0%}", f"{rounded(ms, 3)} ms", told


def _compiling(answer: Answer) -> Iterator[str]:
    first, tried = answer.first, answer.tried
    if first is None:
        return
    if compiles_much(answer):
        seconds = sum(one.seconds for one in first.recorded.compiled)
        yield f"{compile_share(answer):.0%} of the run, {rounded(seconds, 3)} s, is compiling"
    if tried is not None:
        yield _tried(tried)
        yield from (f"compiling {what} did not work: {why}" for what, why in tried.others)
    elif not first.recorded.compiled and model_share(answer.account) >= MODEL:
        yield f"nothing is compiled: {_OFFER}"


def _tried(tried: Tried) -> str:
    if tried.failed:
        return f"compiling {tried.what} did not work: {tried.failed}"
    before, after = tried.eager, tried.compiled
    steps = f"step {rounded(before.value, 3)} -> {rounded(after.value, 3)} ms"
    if tried.differs is None:
        return (
            f"what compiling {tried.what} brings cannot be told: a step takes {_range(before)} as "
            f"it is, and {_range(after)} compiled"
        )
    if not tried.differs:
        return f"compiling {tried.what} makes no difference that can be told ({steps}, measured)"
    saved = 1 - after.value / before.value if before.value else 0.0
    more = f"would save {saved:.0%}" if saved > 0 else f"makes a step {-saved:.0%} longer"
    pays = f", pays after {tried.pays_after:,} steps" if tried.pays_after and saved > 0 else ""
    change = f", losses: {tried.change}" if tried.change else ""
    return f"compiling {tried.what} {more} (measured: {steps}{pays}{change})"


def _range(one: Interval) -> str:
    return f"{rounded(one.low, 3)} to {rounded(one.high, 3)} ms"


def _rest(answer: Answer) -> Iterator[str]:
    """That nothing is worth a change, or why nobody can say so; nothing where a line is."""
    saves = [*savings(answer, MODEL)]
    yield from saves
    ceiling = answer.ceiling
    if ceiling is not None and ceiling.ms:
        times = answer.account.median / ceiling.ms
        yield (
            f"the least that a step can take on this GPU is {rounded(ceiling.ms, 3)} ms, which "
            f"{ceiling.bound_by} sets: it takes {times:.1f} times that"
        )
    small = slight(answer)
    if (words.ranked(answer) and not small) or lost(answer) or saves:
        yield from few_steps(answer)
        return
    missing = [*lacks(answer)]
    if missing:
        yield f"no line is worth a change by itself, but {'; '.join(missing)}"
    elif small:
        share = f"{answer.account.share(small):.0%}"
        yield f"{NOTHING}no line costs more than {share}, and no rule knows a better way for one"
    else:
        yield f"{NOTHING}no line costs enough to be measured"


def savings(answer: Answer, least: float = _LISTED) -> Iterator[str]:
    """What other kernels would save, fewer of them, or faster loading, from a share of the step on.

    Of that no finding tells.
    """
    enough = least * answer.account.mean
    if not enough:
        return
    for move in loading_moves(answer):
        if move.saves >= enough:
            yield f"{move.name}: {move.remedy} would save up to {_saved(move.saves, move.change)}"
    kernels = answer.first.kernels if answer.first is not None else None
    if kernels is None:
        return
    for one in kernels.classes:
        if max(one.saves, one.on_gpu) >= enough:
            more = f"; {rounded(one.on_gpu, 3)} ms if the host kept up" if _is_held(one) else ""
            saved = _saved(one.saves, one.change)
            yield f"{one.name}: {one.remedy} would save up to {saved}{more}"
    if kernels.idle_saves >= enough:
        yield (
            f"the GPU is idle for {rounded(kernels.idle, 3)} ms of a step: {kernels.idle_remedy} "
            f"would save up to {_saved(kernels.idle_saves)}"
        )


def _is_held(one: KernelClass) -> bool:
    """Whether the host, and not the GPU, then is what a step waits for."""
    return one.on_gpu > _HELD * one.saves


def _saved(ms: float, change: str = "") -> str:
    return f"{rounded(ms, 3)} ms{f' ({change})' if change else ''}"
