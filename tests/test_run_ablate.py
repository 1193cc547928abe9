"""``tclint run --ablate``: what each line costs, measured with its remedy alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.errors import UserError
from tclint.run import arms
from tclint.run.ablate import Ablation, Measured, ablate, remedies_for, saved
from tclint.run.arms import Arm
from tclint.run.intervals import Interval
from tclint.run.launch import Ended, Settings
from tclint.run.proof import Wanted
from tclint.run.report import as_html, as_json, as_markdown
from tclint.run.report.text import render
from tests.run_recordings import BREAK, Recording

SCRIPT = """\
import torch


@torch.compile
def masked(x, mask):
    x[mask] += 1
    print(x.shape)
    if x.sum() > 0:
        x = x + 1
    return x


for _ in range(100):
    masked(torch.ones(3), torch.ones(3) > 0).sum().backward()
"""
BARE = "\n    print(x.shape)"
ROWS = {6: 40, 7: 35, 8: 25}
"""How many of a hundred samples each line has."""
COSTS = {BARE: 3.0, "if x.sum()": 1.0}
"""What a step of ten milliseconds takes less without a text."""


class Measuring:
    """A program that breaks its graph in three places, and launches of it that cost nothing."""

    def __init__(self, folder: Path) -> None:
        self.recording = Recording(folder)
        self.recording.script.write_text(SCRIPT)
        breaks = [self._break(row) for row in ROWS]
        lines = (*breaks, self.recording.compiled(), self.recording.steps(10))
        self.recording.process(*lines, self.recording.samples(ROWS), self.recording.end())
        self.desk = folder / "desk"
        self.desk.mkdir()
        self.launched: list[Settings] = []
        self.fails = ""
        """A text without which the program makes no steps."""
        self.losses = 0.0

    def _break(self, row: int) -> dict[str, object]:
        text = BREAK.format(file=self.recording.script).replace("line 12", f"line {row}")
        return {**self.recording.break_line(), "text": text}

    def launch(
        self, command: Sequence[str], folder: Path, settings: Settings, output: Path
    ) -> Ended:
        """Stands in for a run: quicker by what each removed text costs."""
        del command
        self.launched.append(settings)
        text = SCRIPT
        if settings.overlay is not None:
            text = json.loads(settings.overlay.read_text())[str(self.recording.script)]
        output.write_text("started\nKeyError: 'x'\n")
        if self.fails and self.fails not in text:
            return Ended(1, 0.1)
        whole = self.recording.folder
        self.recording.folder = folder
        step = 10 - sum(cost for what, cost in COSTS.items() if what not in text)
        place = self.recording.place(14)
        loss = {"kind": "loss", "step": 1, "place": place, "value": self._loss(text).hex()}
        self.recording.process(self.recording.steps(step), loss, self.recording.end())
        self.recording.folder = whole
        return Ended(0, 0.1)

    def _loss(self, text: str) -> float:
        return 1.0 if BARE in text else 1.0 + self.losses

    def ablate(self, top: int, wanted: Wanted, settings: Settings | None = None) -> Ablation:
        self.told = self.recording.answer()
        found = remedies_for(self.told, top, Config(self.recording.script.parent), wanted)
        return ablate(self.told, found, settings or Settings(), self.desk)


@pytest.fixture
def measuring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Measuring:
    found = Measuring(tmp_path)
    monkeypatch.setattr(arms, "launch", found.launch)
    return found


def test_each_line_is_measured_by_its_own_remedy_in_turns_with_the_files_as_they_are(
    measuring: Measuring,
) -> None:
    found = measuring.ablate(3, Wanted(unsafe=True, settings=True)).found
    saved = {line.row: told.saved.value for line, told in found if isinstance(told, Measured)}
    assert saved == {6: pytest.approx(0), 7: pytest.approx(3), 8: pytest.approx(1)}
    overlays = [one.overlay and one.overlay.name for one in measuring.launched]
    assert overlays[0] is None
    assert overlays[:4] == overlays[4:]
    assert len(set(overlays)) == 4
    assert measuring.recording.script.read_text() == SCRIPT


def test_a_line_whose_fix_is_not_allowed_is_unmeasured_and_says_so(measuring: Measuring) -> None:
    told = {line.row: told for line, told in measuring.ablate(3, Wanted()).found}
    assert told[6] == "it has no fix: `--remedies settings` allows settings"
    assert told[8] == "its fix is unsafe: --unsafe-fixes allows it"
    assert isinstance(told[7], Measured)


def test_nothing_is_run_where_no_line_can_be_measured(measuring: Measuring) -> None:
    with pytest.raises(UserError, match="nothing to measure: "):
        measuring.ablate(1, Wanted())
    assert measuring.launched == []


def test_a_remedy_with_which_the_program_fails_is_told_with_its_last_words(
    measuring: Measuring,
) -> None:
    measuring.fails = BARE
    found = measuring.ablate(3, Wanted(unsafe=True, settings=True)).found
    told = {line.row: told for line, told in found}
    assert told[7] == (
        "the command ended with status 1 before it made steps; its last line: KeyError: 'x'"
    )
    assert isinstance(told[8], Measured)


def test_a_remedy_that_changes_the_losses_says_so(measuring: Measuring) -> None:
    measuring.losses = 0.5
    found = measuring.ablate(3, Wanted(unsafe=True, settings=True))
    told = {line.row: told for line, told in found.found if isinstance(told, Measured)}
    assert (told[7].same, told[8].same) == (False, True)
    assert "losses differ from step 0 on: 1 before, 1.5 after" in text_of(measuring, found)


def test_only_some_steps_are_run_and_no_more_than_asked_for(measuring: Measuring) -> None:
    everything = Wanted(unsafe=True, settings=True)
    measuring.ablate(1, everything)
    assert {one.steps for one in measuring.launched} == {10 + 400}
    measuring.launched.clear()
    for file in measuring.desk.iterdir():
        file.rename(measuring.recording.folder.parent / file.name)
    measuring.ablate(1, everything, Settings(steps=30))
    assert {one.steps for one in measuring.launched} == {30}


def text_of(measuring: Measuring, ablation: Ablation) -> str:
    return render(measuring.told, measuring.recording.script.parent, None, ablation)


def test_every_report_tells_what_was_measured_beside_the_estimate(measuring: Measuring) -> None:
    found = measuring.ablate(2, Wanted(unsafe=True))
    root = measuring.recording.script.parent
    assert "1.    4 ms  40%  train.py:6" in text_of(measuring, found)
    assert "measured 3 ms (3 to 3)" in text_of(measuring, found)
    for render_ in (as_html.render, as_markdown.render):
        assert "unmeasured: " in render_(measuring.told, root, None, found)
    data = json.loads(as_json.render(measuring.told, root, None, found))
    lines = {line["row"]: line for line in data["lines"]}
    assert "measured" not in lines[8]
    assert lines[7]["measured"]["ms"]["value"] == pytest.approx(3)
    assert lines[7]["measured"]["losses_equal"] is True


def test_the_interval_holds_what_each_round_says() -> None:
    def arm(*rounds: float) -> Arm:
        whole = sum(rounds) / len(rounds)
        steps = tuple(Interval(ms, ms, ms) for ms in rounds)
        return Arm(steps, Interval(whole, whole - 0.1, whole + 0.1), (), 0)

    found = saved(arm(10, 12), arm(8, 7))
    assert (found.value, found.low, found.high) == (pytest.approx(3.5), 2, 5)


def test_the_line_that_ends_a_step_is_found_again_where_a_fix_moved_it(
    measuring: Measuring,
) -> None:
    marker = f"{measuring.recording.script}:14"
    measuring.ablate(3, Wanted(settings=True), Settings(marker=marker))
    for settings in measuring.launched:
        text = SCRIPT
        if settings.overlay is not None:
            text = json.loads(settings.overlay.read_text())[str(measuring.recording.script)]
        row = int(settings.marker.rpartition(":")[2])
        assert "backward()" in text.splitlines()[row - 1]
