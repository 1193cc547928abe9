"""What differs between the sources of two arms, as a unified diff."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tclint.files import read_text
from tclint.fix.diff import diff_of
from tclint.verify.arms import Side
from tclint.verify.results import Arm


def changes(sides: Sequence[Side], arms: Sequence[Arm]) -> str:
    """The diff of the project's files that the last arm loaded; empty for one arm alone."""
    if len(sides) != 2 or len(arms) != 2:
        return ""
    before, after = sides
    probe = arms[-1].probe or arms[0].probe
    loaded = {Path(name) for name in probe.loaded} if probe is not None else set()
    parts = []
    for path in sorted({*loaded, *map(Path, after.overlay)}):
        name = path.relative_to(after.root) if path.is_relative_to(after.root) else None
        if name is None:
            continue
        old, new = _text(before, before.root / name), _text(after, path)
        if old is not None and new is not None and old != new:
            parts.append(diff_of(old, new, name.as_posix()))
    return "".join(parts)


def _text(side: Side, path: Path) -> str | None:
    """What a side has for a file; None where it has nothing that could be compared."""
    if str(path) in side.overlay:
        return side.overlay[str(path)]
    try:
        return read_text(path)
    except (OSError, UnicodeDecodeError):
        return None
