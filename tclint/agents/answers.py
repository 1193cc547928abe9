"""What agents are told: what leads to the next step, and no more than was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

Object = dict[str, Any]
PATCH_CHARACTERS = 60_000
PAGE_CHARACTERS = 12_000
MOST_BREAKS = 30
"""Lines of breaks that one answer names."""


def findings(rows: Sequence[Object], folder: Path, limit: int) -> Object:
    """The first findings of a report, and how many there are."""
    return {
        "total": len(rows),
        "shown": min(limit, len(rows)),
        "findings": [_finding(row, folder) for row in rows[:limit]],
    }


def _finding(row: Object, folder: Path) -> Object:
    fix = row["fix"]
    told = {
        "place": _place(row["filename"], row["location"], folder),
        "code": row["code"],
        "message": row["message"],
        "effect": row["effect"],
        "confidence": row["confidence"],
        "reached": [link["function"] for link in row["chain"]],
        "fix": f"{_kind(fix)}: {fix['message']}" if fix else None,
        "instead": row["instead"],
        "not_fixed": row["declined"],
        "settings": [line for one in row["settings"] for line in one["lines"]],
    }
    return {key: value for key, value in told.items() if value}


def _kind(fix: Object) -> str:
    """How a fix may be applied; of an unsafe one, how far the program may differ."""
    kind: str = fix["applicability"]
    return f"{kind}, {fix['change']}" if kind == "unsafe" else kind


def _place(filename: str, location: Mapping[str, int], folder: Path) -> str:
    return f"{relative(filename, folder)}:{location['row']}:{location['column']}"


def relative(filename: str, folder: Path) -> str:
    """A file as seen from the folder."""
    path = Path(filename)
    root = folder.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else filename


def patches(diff: str) -> Object:
    """A diff by file, as much of it as an answer holds."""
    every = list(_by_file(diff))
    kept, room = [], PATCH_CHARACTERS
    for name, text in every:
        room -= len(text)
        if room < 0:
            break
        kept.append({"file": name, "diff": text})
    left = [name for name, _ in every[len(kept) :]]
    return {"patches": kept, "left_out": left} if left else {"patches": kept}


def _by_file(diff: str) -> Iterator[tuple[str, str]]:
    begun = diff.removeprefix("--- ")
    if begun == diff:
        return
    for part in begun.split("\n--- "):
        text = f"--- {part}".rstrip("\n") + "\n"
        yield part.partition("\n")[0].removeprefix("a/").partition("\t")[0], text


def verified(target: Object, folder: Path) -> Object:
    """What was measured of one target: each arm's breaks, whether results agree, how fast."""
    return {
        "target": target["target"],
        "passed": target["passed"],
        "complaints": target["complaints"],
        "results": target["equality"]["verdict"],
        "detail": target["equality"]["detail"],
        "speedups": target["speedups"],
        "arms": [_arm(arm, folder) for arm in target["arms"]],
    }


def _arm(arm: Object, folder: Path) -> Object:
    if arm["failure"] is not None:
        return {"name": arm["name"], "failure": arm["failure"]}
    broken = arm["breaks"]
    return {
        "name": arm["name"],
        "graphs": arm["graphs"],
        "graph_breaks": len(broken),
        "breaks": [
            f"{relative(one['filename'], folder)}:{one['row']}: {one['gb_id']} {one['reason']}"
            for one in broken[:MOST_BREAKS]
        ],
        "recompiles": len(arm["recompiles"]),
        "times": arm["times"],
    }


def cut(text: str, most: int) -> str:
    """The first characters of a text, and a line that says so."""
    if len(text) <= most:
        return text
    return f"{text[:most]}\n... {len(text) - most} characters more"
