"""What the page of a run draws."""

from __future__ import annotations

from tclint.run.recorded import Place, Steps
from tclint.run.report.as_html import _WIDTH, _windows


def windows(warm_up: int, *watched: tuple[int, int], count: int = 10) -> list[tuple[float, float]]:
    steps = Steps("optimizer.step", Place("train.py", 1), tuple(range(count + 1)), warm_up, watched)
    return [(left, left + width) for left, width, _ in _windows(steps, count)]


def test_steps_that_do_not_count_lie_within_the_chart() -> None:
    step = _WIDTH / 10
    assert windows(3, (4, 5)) == [(0, 3 * step), (4 * step, 6 * step)]


def test_a_command_may_end_before_all_that_was_planned() -> None:
    assert windows(20, (20, 30)) == [(0, _WIDTH)]
    assert windows(0, (8, 40)) == [(_WIDTH * 0.8, _WIDTH)]
