"""How fast compiled code is after each kind of remedy, and which kinds are dropped for it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tclint.confirm.pace import Step, with_times
from tclint.report.fixes.outcome import Worth
from tclint.verify.events import Equality
from tclint.verify.results import Arm, Untimed
from tclint.verify.speed import Kernels, Memory, Speed
from tclint.verify.verdict import timing


def speed(median: float, *, again: float | None = None) -> Speed:
    """Times within one percent of a median."""
    samples = [median * (1 + 0.001 * (turn % 5)) for turn in range(15)]
    once_more = None if again is None else timing([again + 0.0001 * (n % 5) for n in range(15)])
    return Speed(
        1.0, timing([9.0] * 15), timing(samples), Memory(), (), (), Equality("identical"),
        again=once_more, kernels=Kernels(3, 4),
    )  # fmt: skip


def arm(given: float | tuple[float, float] | None) -> Arm:
    """An arm with its time, or one that no longer runs when it is compiled for real."""
    if given is None:
        return Arm("it", None, untimed=(Untimed("default", "it raised", True),))
    median, again = given if isinstance(given, tuple) else (given, None)
    return Arm("it", None, speeds=(speed(median, again=again),))


def timed(*times: float | tuple[float, float] | None, speeds: bool = True) -> list[Step]:
    """Steps with these times, the first being that of the target as it was."""
    bench = SimpleNamespace(
        job=SimpleNamespace(name="net", options=SimpleNamespace(speed=speeds)),
        speeds=lambda states: tuple(map(arm, times)),
    )
    trials = SimpleNamespace(state=lambda items, number: None)
    kinds = ("safe fixes", "settings", "unsafe fixes")[: len(times) - 1]
    none: frozenset[Any] = frozenset()
    steps = [Step(Worth(kind, 2, 3, 1, 2), cast("Any", trials), none, none) for kind in kinds]
    told: list[str] = []
    done = with_times([cast("Any", bench)], steps, told.append)
    assert told == (["net: speed of compiled code"] if speeds else [])
    return done


@pytest.mark.parametrize(
    ("times", "kept"),
    [
        pytest.param((4.0, 2.0, 1.0), [True, True], id="ever faster"),
        pytest.param((4.0, 2.0, 2.01), [True, True], id="no slower than the noise"),
        pytest.param((4.0, 1.0, 2.0), [True, False], id="the last is slower"),
        pytest.param((4.0, 8.0, 2.0), [True, True], id="slower on the way"),
        pytest.param((1.0, 2.0, 4.0), [False, False], id="ever slower"),
        pytest.param((4.0, 1.0, None), [True, False], id="the last does not run"),
        pytest.param((None, 1.0, 1.0), [True, True], id="it did not run before"),
        pytest.param(((1.0, 1.0), (1.1, 1.1)), [False], id="slower in two processes"),
        pytest.param((1.0, 1.1), [True], id="slower in one process"),
        pytest.param(((1.0, 1.1), (1.1, 1.0)), [True], id="not seen again"),
    ],
)
def test_what_compiled_code_is_slower_with_is_dropped(
    times: tuple[float | tuple[float, float] | None, ...], kept: list[bool]
) -> None:
    assert [step.worth.kept for step in timed(*times)] == kept


def test_each_step_tells_what_was_measured_before_and_after_it() -> None:
    (pace,) = timed(4.0, 2.0)[0].worth.pace
    assert pace.before is not None and pace.after is not None
    assert (pace.target, pace.after.launches, pace.after.syncs) == ("net", 4, 0)
    assert pace.after.milliseconds == pytest.approx(2.0, rel=0.01)
    assert pace.ratio == pytest.approx(2.0, rel=0.01)
    assert pace.low is not None and pace.low <= 2.01


def test_nothing_is_timed_where_nobody_asks() -> None:
    assert not timed(4.0, 2.0, speeds=False)[0].worth.pace
