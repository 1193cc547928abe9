"""What was measured speaks for a finding or against it: its device, its part of a step."""

from __future__ import annotations

from pathlib import Path

from tclint.config import Config
from tclint.run.proof import Wanted, fixes_for
from tests.test_run_account import Watched
from tests.test_run_host import BACKWARD, LOADER, MODULE, OPTIMIZER

SCRIPT = """\
import torch
from torch.nn import MultiheadAttention


def train(model, dataset, optimizer):
    loader = torch.utils.data.DataLoader(dataset, batch_size=4)
    for x in loader:
        loss = model(x.cuda()).mean()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train(MultiheadAttention(8, 2), None, None)
"""


def run(folder: Path, loading: float) -> Watched:
    seen = Watched(folder, SCRIPT, 10)
    for _ in range(60):
        seen.spend(10 * loading, (7, "train"), inside=LOADER)
        seen.spend(10 * (1 - loading) / 2, (8, "train"), inside=MODULE)
        seen.spend(10 * (1 - loading) / 4, (9, "train"), inside=BACKWARD)
        seen.spend(10 * (1 - loading) / 4, (10, "train"), inside=OPTIMIZER)
        seen.end_step()
    return seen


def codes(seen: Watched) -> list[str]:
    return [one.finding.code for one in seen.answer().joined.lines if one.finding]


def test_what_holds_on_a_gpu_alone_is_not_told_of_a_script_on_a_cpu(tmp_path: Path) -> None:
    seen = run(tmp_path, 0.1)
    seen.done()
    assert "TCL620" not in codes(seen)
    assert "TCL620" not in seen.told()


def test_it_is_told_where_a_gpu_worked(tmp_path: Path) -> None:
    seen = run(tmp_path, 0.1)
    seen.done(device="NVIDIA H100")
    assert "TCL620" in codes(seen)


def test_a_weak_finding_about_loading_is_told_where_loading_takes_long(tmp_path: Path) -> None:
    seen = run(tmp_path, 0.45)
    seen.done()
    first = seen.answer().dear[0]
    assert first.line.finding is not None
    assert (first.line.finding.code, first.line.row) == ("TCL337", 6)
    assert 4.3 < first.price.total.value < 4.7
    assert [one for one in seen.answer().dear if one.line.row == 7] == []


def test_it_is_not_told_where_loading_takes_little(tmp_path: Path) -> None:
    seen = run(tmp_path, 0.03)
    seen.done()
    assert "TCL337" not in codes(seen)


def test_breaks_are_tried_whatever_they_cost(tmp_path: Path) -> None:
    from tests.run_recordings import Recording

    recording = Recording(tmp_path)
    lines = (recording.break_line(), recording.compiled(), recording.steps())
    recording.process(*lines, recording.samples({12: 1, 5: 999}), recording.end())
    fixed = fixes_for(recording.answer(), Config(tmp_path), Wanted(settings=True))
    assert [file.path for file in fixed.changed] == [recording.script]
