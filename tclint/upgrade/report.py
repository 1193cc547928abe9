"""The difference between two releases, as text and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tclint.printable import json_text, visible
from tclint.torch_bounds import shown
from tclint.upgrade.changes import Change, Kind, Upgrade

_HEADINGS = {
    Kind.BREAKS: "Breaks from now on",
    Kind.GONE: "Names that are gone",
    Kind.SOLVED: "No longer a problem",
    Kind.REMOVABLE: "Workarounds that can be removed",
}


def as_text(found: Upgrade, name: Callable[[Path], str]) -> str:
    """A section for each kind of change, and a line that counts them."""
    return "\n".join(_lines(found, name)) + "\n"


def _lines(found: Upgrade, name: Callable[[Path], str]) -> Iterator[str]:
    for kind, heading in _HEADINGS.items():
        alike = [change for change in found.changes if change.kind is kind]
        if alike:
            yield f"{heading} ({len(alike)})"
            yield from (f"  {_line(change, name)}" for change in alike)
            yield ""
    old, new = shown(found.step.old), shown(found.step.new)
    changes = _count(len(found.changes), "change")
    yield f"From torch {old} to {new}: {changes} in {_count(found.files, 'file')}."


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _line(change: Change, name: Callable[[Path], str]) -> str:
    code = f" {change.code}" if change.code else ""
    place = f"{name(change.path)}:{change.row}:{change.column}:"
    return visible(f"{place}{code} {change.message}")


def as_json(found: Upgrade, name: Callable[[Path], str]) -> str:
    """One object: the releases, and a list of what changes."""
    return json_text({
        "from": shown(found.step.old),
        "to": shown(found.step.new),
        "changes": [_record(change, name) for change in found.changes],
    }) + "\n"  # fmt: skip


def _record(change: Change, name: Callable[[Path], str]) -> dict[str, Any]:
    return {
        "kind": change.kind.value,
        "path": name(change.path),
        "row": change.row,
        "column": change.column,
        "code": change.code,
        "message": change.message,
    }
