"""What fixing whole packages came to, as records and as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

_INTRODUCTION = """\
# `tclint fix` over whole packages

<!-- Written by `python -m benchmarks.repair.packages`; do not edit. -->

Each package's source is copied and fixed twice. *Broken* counts broken promises: a crash, a file
that no longer parses, bytes that differ from the old ones outside of the reported edits, names that
are missing when the code runs (ruff's F821, F823 and TC004), a module that no longer imports, and a
second run that changes anything. *Imported* are the changed modules that could be imported before,
each of which was imported afterwards; a dash where that was not tried. Declines are counted for
findings that are shown by default. The seconds of the last column are those of the first run, and
not all of one machine.
"""


SAFE, UNSAFE, SETTINGS = "safe", "unsafe", "settings"
_ALL = ("--unsafe-fixes", "--weak")
TIERS = {
    SAFE: (),
    UNSAFE: ("--unsafe-fixes",),
    SETTINGS: (*_ALL, "--remedies", "settings"),
}
"""The options that each tier fixes with."""
_TITLES = {
    SAFE: "Safe fixes",
    UNSAFE: "Unsafe fixes too",
    SETTINGS: "Settings too, for findings of low confidence as well",
}


@dataclass(slots=True)
class Fixed:
    """What fixing one package came to; ``broken`` are the promises that were not kept.

    ``imported`` counts the changed modules that an interpreter could import before, if one tried.
    """

    name: str
    files: int
    tier: str = SAFE
    seconds: float = 0.0
    applied: Counter[str] = field(default_factory=Counter)
    declined: Counter[str] = field(default_factory=Counter)
    edits: int = 0
    changed: int = 0
    imported: int | None = None
    broken: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str]:
        """What is fixed, and how."""
        return self.name, self.tier

    def to_json(self) -> dict[str, Any]:
        """As plain types, without the code that was shown."""
        counters = {"applied": dict(self.applied), "declined": dict(self.declined)}
        return {**asdict(self), **counters, "shown": []}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Fixed:
        """The inverse of :meth:`to_json`."""
        counters = {name: Counter(data[name]) for name in ("applied", "declined")}
        return cls(**{**data, **counters})


def page(results: Sequence[Fixed]) -> str:
    """The tables, each tier apart."""
    parts = [_INTRODUCTION]
    for tier, title in _TITLES.items():
        chosen = [one for one in results if one.tier == tier]
        if chosen:
            parts.append(f"\n## {title}\n\n{table(chosen)}\n")
    return "".join(parts)


def table(results: Sequence[Fixed]) -> str:
    """A line for each package, and one for each rule."""
    lines = [
        "| package | files | changed | imported | fixes | edits | declined | broken | s |",
        "|" + " --- |" * 9,
    ]
    lines += [
        f"| {one.name} | {one.files} | {one.changed} "
        f"| {'-' if one.imported is None else one.imported} "
        f"| {one.applied.total()} | {one.edits} "
        f"| {one.declined.total()} | {len(one.broken)} | {one.seconds:.0f} |"
        for one in results
    ]
    applied = sum((one.applied for one in results), Counter[str]())
    declined = sum((one.declined for one in results), Counter[str]())
    lines += ["", "| rule | fixed | declined |", "| --- | --- | --- |"]
    lines += [f"| {c} | {applied[c]} | {declined[c]} |" for c in sorted({*applied, *declined})]
    return "\n".join(lines)
