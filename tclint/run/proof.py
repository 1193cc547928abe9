"""The same steps with the fixes and without: are the losses equal, and is a step faster?

The fixes are in an overlay: the processes import the fixed texts, and the files stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tclint.config import Config
from tclint.diagnostics import Applicability, Diagnostic, RemedyKind
from tclint.errors import UserError
from tclint.fix.apply import fix_files
from tclint.fix.results import FixRun, Remedies, key_of
from tclint.records import record
from tclint.run.events import Kind, events_of
from tclint.run.intervals import Interval, of_median
from tclint.run.launch import Settings, launch
from tclint.run.price import quiet_steps
from tclint.run.read import read_folder, training
from tclint.run.recorded import Loss, Recorded
from tclint.run.session import Answer
from tclint.torch_facts.dynamo_settings import SETTINGS

ROUNDS = 2
"""How often each arm is run, in turns."""
_QUIET = (0, 0, 0)


@record(frozen=True)
class Arm:
    """One side of a proof: all of its steps, the losses of each round, its graph breaks."""

    step: Interval
    losses: tuple[tuple[Loss, ...], ...]
    breaks: int


@record(frozen=True)
class Proof:
    """What the fixes changed in the user's own run.

    ``same`` is None where losses cannot be compared; ``losses`` says what was found, in words.
    """

    fixed: FixRun
    before: Arm
    after: Arm
    same: bool | None
    losses: str

    @property
    def speedup(self) -> Interval:
        """How many times as fast a step is with the fixes."""
        before, after = self.before.step, self.after.step
        return Interval(
            before.value / after.value, before.low / after.high, before.high / after.low
        )


@record(frozen=True)
class Wanted:
    """What a proof may try besides safe fixes."""

    unsafe: bool = False
    settings: bool = False
    hatches: bool = False


def fixes_for(answer: Answer, config: Config, wanted: Wanted) -> FixRun:
    """What fixing makes of the files that ran, for the lines that are worth something.

    Raises:
        UserError: none of these lines has a fix.
    """
    allowed = {Applicability.SAFE, *([Applicability.UNSAFE] if wanted.unsafe else [])}
    findings = [line.finding for line in (one.line for one in answer.dear) if line.finding]
    keys = {key_of(one) for one in findings if one.fixable in allowed}
    offered = [remedy for one in findings for remedy in one.remedies]
    lines = {line for remedy in offered for line in remedy.lines}
    settings = {name for name in SETTINGS if wanted.settings and any(name in x for x in lines)}
    if wanted.hatches:
        keys |= {key_of(one, hatch=True) for one in findings if _has_hatch(one)}
    fixed = fix_files(
        answer.joined.files,
        config,
        unsafe=wanted.unsafe,
        remedies=Remedies(frozenset(settings), wanted.hatches),
        allow=keys.__contains__,
    )
    if not fixed.changed:
        raise UserError(
            "nothing to prove: no line that costs something has such a fix; --unsafe-fixes and "
            "--remedies allow more"
        )
    return fixed


def _has_hatch(finding: Diagnostic) -> bool:
    return any(remedy.kind is RemedyKind.HATCH for remedy in finding.remedies)


def prove(command: Sequence[str], fixed: FixRun, settings: Settings, desk: Path) -> Proof:
    """Run the command with the fixes and without, in turns.

    Raises:
        UserError: one of the runs made no steps.
    """
    overlay = desk / "overlay.json"
    texts = {str(file.path.resolve()): file.after for file in fixed.changed}
    overlay.write_text(json.dumps(texts), encoding="utf-8")
    quiet = replace(settings, window=_QUIET)
    before: list[Recorded] = []
    after: list[Recorded] = []
    for number in range(ROUNDS):
        before.append(_round(command, desk / f"before-{number}", quiet))
        with_fixes = replace(quiet, overlay=overlay)
        after.append(_round(command, desk / f"after-{number}", with_fixes))
    one, other = _arm(before), _arm(after)
    same, words = _compared(one, other)
    return Proof(fixed, one, other, same, words)


def _round(command: Sequence[str], folder: Path, settings: Settings) -> Recorded:
    folder.mkdir()
    ended = launch(command, folder, settings, output=folder / "output.txt")
    found = training(read_folder(folder))
    if not found or found[0].steps is None:
        words = f"the command ended with status {ended.status}" if ended.status else "it ended"
        raise UserError(f"no proof: {words} before it made steps; {_last_line(folder)}")
    return found[0]


def _last_line(folder: Path) -> str:
    text = (folder / "output.txt").read_text(encoding="utf-8", errors="replace").strip()
    return f"its last line: {text.splitlines()[-1]}" if text else "it printed nothing"


def _arm(rounds: Sequence[Recorded]) -> Arm:
    steps = [ms for one in rounds if one.steps is not None for ms in quiet_steps(one.steps)]
    breaks = sum(event.kind is Kind.BREAK for event in events_of(rounds[0]))
    return Arm(of_median(steps), tuple(one.losses for one in rounds), breaks)


def _compared(before: Arm, after: Arm) -> tuple[bool | None, str]:
    """Whether the losses are those of the code as found, bit for bit."""
    rounds = [[loss.value for loss in losses] for losses in before.losses]
    fixed = [[loss.value for loss in losses] for losses in after.losses]
    if not any(rounds):
        return None, "losses unknown: no backward() was seen"
    if any(one != rounds[0] for one in rounds):
        step = _first_difference(rounds[0], next(one for one in rounds if one != rounds[0]))
        return None, f"losses cannot be compared: unchanged code gives others, from step {step} on"
    other = next((one for one in fixed if one != rounds[0]), None)
    if other is None:
        return True, f"losses equal bit for bit ({len(rounds[0])} steps)"
    step = _first_difference(rounds[0], other)
    if step >= min(len(rounds[0]), len(other)):
        return False, f"{len(rounds[0])} losses before, {len(other)} after"
    old, new = float.fromhex(rounds[0][step]), float.fromhex(other[step])
    return False, f"losses differ from step {step} on: {old:.9g} before, {new:.9g} after"


def _first_difference(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
