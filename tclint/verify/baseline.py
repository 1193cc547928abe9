"""The ratchet: breaks and recompiles that are known and may only become fewer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from tclint.files import read_text
from tclint.json_text import parse_json
from tclint.records import record
from tclint.verify.budgets import recompile_count
from tclint.verify.errors import TargetError
from tclint.verify.events import Break
from tclint.verify.results import TargetReport

_VERSION = 1


@record(frozen=True)
class Known:
    """What one target is allowed: breaks by file and id, so that one kind cannot hide another."""

    breaks: dict[str, int] = field(default_factory=dict)
    recompiles: int = 0


Baseline = dict[str, Known]


def read_baseline(path: Path) -> Baseline:
    """Read a baseline file; a missing one allows nothing."""
    if not path.exists():
        return {}
    try:
        data: Any = parse_json(read_text(path))
        targets = data["targets"]
        return {
            name: Known(dict(entry["breaks"]), int(entry["recompiles"]))
            for name, entry in targets.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TargetError(f"{path} is not a baseline: {error}") from error


def write_baseline(path: Path, reports: Sequence[TargetReport], old: Baseline, root: Path) -> None:
    """Write what the reports show; targets that did not run keep what they had."""
    entries = {name: _entry(known) for name, known in old.items()}
    for report in reports:
        if report.after.probe is not None and report.after.failure is None:
            known = Known(dict(_places(report, root)), recompile_count(report.after))
            entries[report.target] = _entry(known)
    data = {"version": _VERSION, "targets": dict(sorted(entries.items()))}
    path.write_text(json.dumps(data, indent=2) + "\n", "utf-8")


def compare_baseline(report: TargetReport, baseline: Baseline, root: Path) -> tuple[str, ...]:
    """What is worse than the baseline allows."""
    if report.after.probe is None:
        return ()
    known = baseline.get(report.target, Known())
    worse = [
        f"{count} breaks {place}, baseline: {known.breaks.get(place, 0)}"
        for place, count in sorted(_places(report, root).items())
        if count > known.breaks.get(place, 0)
    ]
    again = recompile_count(report.after)
    if again > known.recompiles:
        worse.append(f"{again} recompiles, baseline: {known.recompiles}")
    return tuple(worse)


def _places(report: TargetReport, root: Path) -> Counter[str]:
    probe = report.after.probe
    breaks = probe.user_breaks if probe is not None else ()
    return Counter(f"{one.gb_id or 'without id'} in {_file(one, root)}" for one in breaks)


def _file(one: Break, root: Path) -> str:
    path = Path(one.filename)
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()


def _entry(known: Known) -> dict[str, Any]:
    return {"breaks": dict(sorted(known.breaks.items())), "recompiles": known.recompiles}
