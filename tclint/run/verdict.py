"""What keeps a report from saying that nothing is worth a change, and what compiling has lost."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from tclint.records import record
from tclint.run.account import Account
from tclint.run.events import Event, Kind
from tclint.run.host import Part
from tclint.run.session import Answer

ENOUGH = 20
"""Steps that must count before anything is said to be worth nothing."""
_UNEXPLAINED = 0.1
_SLIGHT = 0.05
"""The share of a step up to which a line is small."""
_COMPILES = 0.1
"""The share of a run from which on it is told that it compiles."""
_NEAR, _NEAR_AT_WORK = 1.1, 1.5
"""So many times the least that a step can take are near enough; of a GPU that hardly idles, the
second: products of a model's sizes do not reach the rate of large ones."""
_IDLE = 0.15
MODEL = 0.1
"""The share of a step from which on it matters whether the model is compiled."""


@record(frozen=True)
class Lost:
    """A function that torch compiles no more: compiled in vain for so many seconds.

    ``event`` is the recompile that was one too many, in ``step``, if that is known.
    """

    event: Event
    function: str
    step: int | None
    seconds: float


def lost(answer: Answer) -> tuple[Lost, ...]:
    """The functions of the first rank whose limit of recompiles was reached."""
    first = answer.first
    if first is None:
        return ()
    return tuple(_lost(answer, event) for event in first.events if event.limit)


def _lost(answer: Answer, event: Event) -> Lost:
    assert answer.first is not None
    one = answer.first.recorded
    frame = event.compile_id.partition("/")[0]
    mine = [entry for entry in one.compiled if entry.compile_id.partition("/")[0] == frame]
    at = max((entry.at for entry in mine if entry.compile_id == event.compile_id), default=0)
    ends = one.steps.ends if one.steps is not None else ()
    step = bisect_left(ends, at) + 1 if at and ends else None
    names = [entry.function for entry in mine if entry.function != "?"]
    return Lost(event, names[0] if names else "", step, sum(entry.seconds for entry in mine))


def compile_share(answer: Answer) -> float:
    """The share of the whole command's time that is spent compiling."""
    first, ended = answer.first, answer.ended
    if first is None or ended is None or not ended.seconds:
        return 0.0
    return min(1.0, sum(one.seconds for one in first.recorded.compiled) / ended.seconds)


def compiles_much(answer: Answer) -> bool:
    """Whether a run is told to compile for long."""
    return compile_share(answer) >= _COMPILES


def model_share(account: Account) -> float:
    """The share of a step that compiling could shorten: forward and backward, or the GPU's."""
    kinds = {Part.FORWARD.value, Part.BACKWARD.value, "gpu"}
    return account.share(sum(group.ms for group in account.groups if group.kind in kinds))


def few_steps(answer: Answer) -> Iterator[str]:
    """That there are too few steps to say what they vary by."""
    account = answer.account
    if account.steps < ENOUGH:
        counted = f"only {account.steps} step{'' if account.steps == 1 else 's'} counted"
        yield f"{counted}: let it make at least {ENOUGH}, or lower --warm-up"


def slight(answer: Answer) -> float:
    """Milliseconds of the dearest line, where all are small and no rule knows a better way for any.

    0 where there is no line, and also where one is worth a change.
    """
    share = answer.account.share
    ms = [one.price.total.value for one in answer.dear]
    known = any(one.line.finding is not None for one in answer.dear)
    if known or share(sum(ms)) >= _UNEXPLAINED or share(max(ms, default=0.0)) >= _SLIGHT:
        return 0.0
    return max(ms, default=0.0)


def lacks(answer: Answer) -> Iterator[str]:
    """Why nobody can say that nothing is worth a change, the worst first."""
    account, first = answer.account, answer.first
    if first is None or not answer.priced:
        return
    yield from few_steps(answer)
    if account.share(account.unexplained) >= _UNEXPLAINED:
        yield f"{account.share(account.unexplained):.0%} of the time is unexplained"
    yield from _lacks_of_compiling(answer)
    yield from _lacks_of_ceiling(answer)
    if answer.drowned:
        yield "what is left at some lines is less than the steps vary by anyway"


def _lacks_of_compiling(answer: Answer) -> Iterator[str]:
    first, tried = answer.first, answer.tried
    assert first is not None
    if lost(answer):
        yield "the limit of recompiles was reached"
    elif any(event.kind is Kind.RECOMPILE for event in first.events) and compiles_much(answer):
        yield f"{compile_share(answer):.0%} of the run is compiling"
    if first.recorded.compiled or model_share(answer.account) < MODEL:
        return
    if tried is None or tried.failed:
        yield "nothing is compiled, and what that would bring was not measured"
    elif tried.differs and tried.compiled.value < tried.eager.value:
        yield "compiling the model makes a step shorter"
    elif tried.differs is None:
        yield "its runs differ too much to tell what compiling brings"


def _lacks_of_ceiling(answer: Answer) -> Iterator[str]:
    first, ceiling = answer.first, answer.ceiling
    assert first is not None
    if ceiling is None:
        if first.activity is not None:
            yield "the least that a step can take on this GPU is not known"
        return
    near = _NEAR_AT_WORK if first.idle_share < _IDLE else _NEAR
    if answer.account.median > near * ceiling.ms:
        times = answer.account.median / ceiling.ms if ceiling.ms else 0.0
        idle = (
            f"the GPU is idle for {first.idle_share:.0%} of a step, which" if near == _NEAR else ""
        )
        yield f"{idle or 'a step'} takes {times:.1f} times the least that {ceiling.bound_by} allows"
