"""What a verdict allows: a repair that is as safe as it is proved, or the reason for none."""

from __future__ import annotations

from typing import Final

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Repair, Rewrite

from ..judge.verdict import Changes, Refused, Verdict

NO_TORCH: Final = Decline("the file does not import torch")


def repair_as_proved(
    verdict: Verdict, message: str, rewrites: tuple[Rewrite, ...]
) -> Repair | Decline:
    """The repair, unsafe where the verdict says what changes; nothing where it refuses."""
    if isinstance(verdict, Refused):
        return Decline(verdict.why)
    if isinstance(verdict, Changes):
        return Repair(message, rewrites, verdict.change, verdict.what)
    return Repair(message, rewrites)
