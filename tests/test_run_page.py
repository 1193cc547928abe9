"""What the page of a run draws."""

from __future__ import annotations

from pathlib import Path

from tclint.run.recorded import Place, Steps
from tclint.run.report import as_html
from tclint.run.report.as_html import _WIDTH, _spikes, _windows
from tests.run_recordings import Recording
from tests.test_run_account import Watched
from tests.test_run_host import BACKWARD, OPTIMIZER


def windows(warm_up: int, *watched: tuple[int, int], count: int = 10) -> list[tuple[float, float]]:
    steps = Steps("optimizer.step", Place("train.py", 1), tuple(range(count + 1)), warm_up, watched)
    return [(left, left + width) for left, width, _ in _windows(steps, count)]


def test_steps_that_do_not_count_lie_within_the_chart() -> None:
    step = _WIDTH / 10
    assert windows(3, (4, 5)) == [(0, 3 * step), (4 * step, 6 * step)]


def test_a_command_may_end_before_all_that_was_planned() -> None:
    assert windows(20, (20, 30)) == [(0, _WIDTH)]
    assert windows(0, (8, 40)) == [(_WIDTH * 0.8, _WIDTH)]


def test_steps_slower_than_the_chart_is_high_are_marked() -> None:
    found = [*_spikes([10.0, 10.0, 400.0, 10.0], 15.0)]
    assert [(round(x), told) for x, _, told in found] == [(_WIDTH // 2, "step 3: 400 ms")]


def test_the_page_begins_with_the_verdict_and_tells_of_what_happened_alone(tmp_path: Path) -> None:
    recording = Recording(tmp_path)
    recording.process(recording.steps(), recording.samples({5: 100}), recording.end())
    page = as_html.render(recording.answer(), tmp_path)
    verdict = page.index('class="verdict lead"')
    assert verdict < page.index("Where the time goes") < page.index("Lines by price")
    for tile in ("graph break", "recompile", "compiling", "idle"):
        assert f"<span>{tile}" not in page
    assert 'class="bad"' not in page


def test_recompiles_come_before_prices(tmp_path: Path) -> None:
    recording = Recording(tmp_path)
    guard = f"0/0: self.n == 7  # {recording.script}:12 in masked"
    again = recording.compiled("0/1", recompile_reason=guard)
    lines = (recording.compiled(), again, recording.steps(), recording.samples({5: 100}))
    recording.process(*lines, recording.end())
    page = as_html.render(recording.answer(), tmp_path)
    assert page.index("Recompiles") < page.index("Lines by price")


TRAIN = """\
import torch

model = torch.compile(torch.nn.Linear(8, 2))
optimizer = torch.optim.AdamW(model.parameters())


def train():
    for _ in range(60):
        model(torch.ones(2, 8)).mean().backward()
        optimizer.step()


train()
"""


def test_the_diff_of_its_fix_stands_at_a_line_without_a_proof(tmp_path: Path) -> None:
    seen = Watched(tmp_path, TRAIN, 10)
    for _ in range(60):
        seen.spend(5, (9, "train"), inside=BACKWARD)
        seen.spend(5, (10, "train"), inside=OPTIMIZER)
        seen.end_step()
    seen.done()
    found = seen.answer()
    (line,) = [one.line for one in found.dear if one.line.finding]
    assert line.row == 4
    page = as_html.render(found, tmp_path)
    assert page.count('class="removed"') == page.count('class="added"') == 1
    assert "fused=<span" in page[page.index('class="added"') :]


def test_processes_that_nobody_numbers_have_the_numbers_of_their_own(tmp_path: Path) -> None:
    recording = Recording(tmp_path)
    lines = recording.steps(), recording.samples({5: 100}), recording.end()
    for pid in (7, 8):
        recording.process(*lines, pid=pid)
    found = recording.answer()
    for told in (as_html.render(found, tmp_path), recording.told()):
        assert "process 7" in told
        assert "process 8" in told
        assert "None" not in told
    assert "<h2>Steps, process 8</h2>" in as_html.render(found, tmp_path)
