"""What ``tclint fix`` makes of the files that a target loads, for the arm "after"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.fix.results import AppliedFix as Fix
from tclint.verify.arms import Fixing
from tclint.verify.results import AppliedFix


def fixer(config: Config, *, unsafe: bool = False) -> Callable[[Sequence[Path]], Fixing]:
    """What ``tclint fix`` makes of some files, without writing them."""

    def fix(files: Sequence[Path]) -> Fixing:
        changed = fix_files(files, config, unsafe=unsafe).changed
        return Fixing(
            {str(file.path.resolve()): file.after for file in changed},
            tuple(_told(fix) for file in changed for fix in file.fixes),
        )

    return fix


def _told(fix: Fix) -> AppliedFix:
    found = fix.diagnostic
    return AppliedFix(found.code, str(found.path), found.span.start.row, fix.message)
