"""The same steps with the fixes and without: are the losses equal, and is a step faster?

The fixes are in an overlay: the processes import the fixed texts, and the files stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tclint.config import Config
from tclint.diagnostics import Applicability, Diagnostic
from tclint.errors import UserError
from tclint.fix.apply import fix_files
from tclint.fix.results import FixRun, Remedies, key_of
from tclint.records import record
from tclint.run.arms import Arm, in_turns, nudged, same_losses
from tclint.run.intervals import Interval
from tclint.run.launch import Settings
from tclint.run.lines import with_evidence
from tclint.run.scale import BEHAVIOUR, ROUNDING, SAME, SCALE, change_of
from tclint.run.session import Answer
from tclint.torch_facts.dynamo_settings import SETTINGS


@record(frozen=True)
class Proof:
    """What the fixes changed in the user's own run.

    ``change`` is the class of what happens to the losses, empty where they cannot be compared;
    ``losses`` says what was found, in words.
    """

    fixed: FixRun
    before: Arm
    after: Arm
    change: str
    losses: str

    @property
    def same(self) -> bool | None:
        """Whether all losses have the same bits; None where they cannot be compared."""
        return self.change == SAME if self.change else None

    @property
    def keeps(self) -> bool:
        """Whether the losses are the same but for rounding."""
        return self.change in {SAME, ROUNDING}

    @property
    def decided(self) -> bool:
        """Whether the runs tell if a step is faster or slower."""
        return not self.speedup.low <= 1 <= self.speedup.high

    @property
    def speedup(self) -> Interval:
        """How many times as fast a step is with the fixes.

        No run is quite like the one before: the interval holds what each round of turns says too.
        """
        before, after = self.before.step, self.after.step
        pairs = zip(self.before.rounds, self.after.rounds, strict=True)
        rounds = [one.value / other.value for one, other in pairs]
        low, high = before.low / after.high, before.high / after.low
        return Interval(before.value / after.value, min([low, *rounds]), max([high, *rounds]))


@record(frozen=True)
class Wanted:
    """What may be tried besides safe fixes."""

    unsafe: bool = False
    settings: bool = False


def fixes_for(answer: Answer, config: Config, wanted: Wanted) -> FixRun:
    """What fixing makes of the files that ran, for the lines that may be worth something.

    Those whose price is lost in what steps differ by are among them: two sides by turns tell more
    than one run. So are all graph breaks: what a graph without them would be, no price tells.

    Raises:
        UserError: none of these lines has a fix.
    """
    lines = [one.line for one in (*answer.dear, *answer.drowned)]
    lines += [one.line for one in answer.cheap if one.line.breaks and one.line not in lines]
    findings = [line.finding for line in lines if line.finding]
    fixed = fixed_for(answer, findings, config, wanted)
    if not fixed.changed:
        raise UserError(
            "nothing to prove: no line that costs something has such a fix; --unsafe-fixes and "
            "--remedies allow more"
        )
    return fixed


def fixed_for(
    answer: Answer, findings: Sequence[Diagnostic], config: Config, wanted: Wanted
) -> FixRun:
    """What fixing makes of the files that ran, for these findings alone."""
    allowed = {Applicability.SAFE, *([Applicability.UNSAFE] if wanted.unsafe else [])}
    keys = {key_of(one) for one in findings if one.fixable in allowed}
    offered = [remedy for one in findings for remedy in one.remedies]
    lines = {line for remedy in offered for line in remedy.lines}
    settings = {name for name in SETTINGS if wanted.settings and any(name in x for x in lines)}
    return fix_files(
        answer.joined.files,
        with_evidence(config),
        unsafe=wanted.unsafe,
        remedies=Remedies(frozenset(settings)),
        allow=keys.__contains__,
    )


def prove(command: Sequence[str], fixed: FixRun, settings: Settings, desk: Path) -> Proof:
    """Run the command with the fixes and without, in turns.

    Raises:
        UserError: one of the runs made no steps.
    """
    turns = in_turns(command, {"before": None, "after": fixed}, settings, desk)
    for why in turns.failed.values():
        raise UserError(f"no proof: {why}")
    before, after = turns.arms["before"], turns.arms["after"]
    same, words = same_losses(before, after)
    if same is None or same:
        return Proof(fixed, before, after, SAME if same else "", words)
    change = _change(before, after, nudged(command, settings, desk))
    return Proof(fixed, before, after, change, f"{change}: {words}")


def _change(before: Arm, after: Arm, nudged: Sequence[str]) -> str:
    """The worst class of what any round of the fixed code computes."""
    old = before.values[0]
    changes = [
        change_of(old, new, nudged) if len(new) == len(old) else BEHAVIOUR for new in after.values
    ]
    return max(changes, key=SCALE.index)
