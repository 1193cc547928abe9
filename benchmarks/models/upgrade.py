"""``tclint upgrade`` against what two releases of torch really do.

    python -m benchmarks.models --resume old.jsonl  # with each torch, in its own environment
    tclint upgrade --from OLD --to NEW --output-format json PACKAGE > changes.json
    python -m benchmarks.models.upgrade old.jsonl new.jsonl changes.json --markdown PAGE

A line *differs* where the graph broke with one of the two releases only, in a model that both ran;
of several records of one run the last counts. What a line says for one release may be a consequence
of another break there and have another number, or none, with the other: such lines are left out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.models.join import CONSEQUENCES, Line
from benchmarks.models.record import BreakSite, Measured
from benchmarks.models.static import statement_rows

Runs = Mapping[tuple[str, str], Measured]


@dataclass(frozen=True, slots=True)
class Difference:
    """A line that breaks with one release only; ``kind`` is what ``tclint upgrade`` calls it."""

    line: Line
    kind: str
    reason: str
    models: tuple[str, ...]
    by: tuple[str, ...]


def main() -> None:
    """Print the lines that differ, and who predicted them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path, help="records of the older torch")
    parser.add_argument("new", type=Path, help="records of the newer one")
    parser.add_argument("changes", type=Path, help="what `tclint upgrade` prints as JSON")
    parser.add_argument("--markdown", type=Path, help="write the page")
    options = parser.parse_args()
    old, new = _runs(options.old), _runs(options.new)
    both = sorted(old.keys() & new.keys())
    runs = [old[run] for run in both], [new[run] for run in both]
    predicted = _predicted(options.changes)
    text = page(*runs, differences(*runs, predicted), unseen(*runs, predicted))
    print(text)
    if options.markdown:
        options.markdown.write_text(text)


def differences(
    old: Iterable[Measured], new: Iterable[Measured], predicted: Mapping[tuple[Line, str], str]
) -> list[Difference]:
    """The lines that break with one release only, each with the rules that told so."""
    before, after = _all_broken(old), _all_broken(new)
    kinds = dict.fromkeys(before.keys() - after.keys(), "solved")
    kinds |= dict.fromkeys(after.keys() - before.keys(), "breaks")
    found = []
    for line, kind in sorted(kinds.items()):
        places = [place for place in (before | after)[line] if not _is_consequence(place[1])]
        if not places:
            continue
        models = tuple(sorted({run.model for run, _ in places}))
        by = tuple(sorted(_by(places[0][0], line, kind, predicted)))
        found.append(Difference(line, kind, places[0][1].reason, models, by))
    return found


def unseen(
    old: Sequence[Measured], new: Sequence[Measured], predicted: Mapping[tuple[Line, str], str]
) -> list[tuple[Line, str, str]]:
    """What was predicted for lines that ran, and does not differ: line, kind and rule."""
    before, after = _all_broken(old), _all_broken(new)
    differ = before.keys() ^ after.keys()
    ran = {
        (file, row) for run in (*old, *new) for file, rows in run.executed.items() for row in rows
    }
    files = {file for file, _ in ran}
    found = []
    for ((path, row), kind), code in sorted(predicted.items()):
        file = next((file for file in files if path.endswith(f"/{file}")), None)
        if file is not None:
            lines = {(file, one) for one in statement_rows(Path(path), row)}
            if lines & ran and not lines & differ:
                found.append(((file, row), kind, code))
    return found


def page(
    old: list[Measured],
    new: list[Measured],
    found: list[Difference],
    not_seen: list[tuple[Line, str, str]],
) -> str:
    """The result as Markdown."""
    told = sum(1 for one in found if one.by)
    versions, broken = old[0].versions, (_number_broken(old), _number_broken(new))
    rows = [
        f"| `{one.line[0]}:{one.line[1]}` | {one.kind} | {one.reason} | {', '.join(one.models[:3])}"
        f"{f' and {len(one.models) - 3} more' if len(one.models) > 3 else ''} |"
        f" {', '.join(one.by) or '-'} |"
        for one in found
    ]
    packages = ", ".join(
        f"{name} {v}" for name, v in sorted(versions.items()) if name not in ("torch", "python")
    )
    return "\n".join([
        "# `tclint upgrade` against two releases of torch",
        "",
        "<!-- Written by `python -m benchmarks.models.upgrade --markdown`; do not edit. -->",
        "",
        f"{len(old)} runs of models ({packages}) were compiled with torch {versions['torch']}",
        f"and with torch {new[0].versions['torch']}. A line *differs* where the graph broke with",
        "only one of the two. Lines that broke only because another line did are left out.",
        *_pythons(old, new),
        "",
        "```text",
        f"lines that break   {broken[0]} with the old, {broken[1]} with the new",
        f"lines that differ  {len(found)}, of which tclint upgrade predicts {told}",
        f"predicted          {len(not_seen)} more at lines that ran, which do not differ",
        "```",
        "",
        "| line | kind | what torch says | models | predicted by |",
        "| --- | --- | --- | --- | --- |",
        *rows,
        "",
        *_not_seen(not_seen),
    ])  # fmt: skip


def _pythons(old: list[Measured], new: list[Measured]) -> list[str]:
    """A sentence about runs that were made on two versions of Python, which trace differently."""
    apart = [(a, b) for a, b in zip(old, new, strict=True) if _python(a) != _python(b)]
    if not apart:
        return [f"All ran on Python {_python(old[0])}."]
    whole = sum(1 for a, b in apart if not a.breaks and not b.breaks)
    versions = " and ".join(_python(one) for one in apart[0])
    those = "all of them" if whole == len(apart) else f"{whole} of them"
    return [
        f"{len(old) - len(apart)} runs were made on Python {_python(new[0])} with both. The other",
        f"{len(apart)} were made on Python {versions}: {those} compile as one graph with both",
        "releases.",
    ]


def _python(run: Measured) -> str:
    return run.versions.get("python", "of unknown version")


def _not_seen(found: list[tuple[Line, str, str]]) -> list[str]:
    if not found:
        return []
    rows = [f"| `{file}:{row}` | {kind} | {code} |" for (file, row), kind, code in found]
    title = "## Predicted at lines that ran, and not seen"
    return [title, "", "| line | kind | rule |", "| --- | --- | --- |", *rows, ""]


def _runs(path: Path) -> Runs:
    records = map(Measured.from_json, map(json.loads, path.read_text().splitlines()))
    return {(one.model, one.mode): one for one in records if one.failure is None}


def _all_broken(runs: Iterable[Measured]) -> dict[Line, list[tuple[Measured, BreakSite]]]:
    found: dict[Line, list[tuple[Measured, BreakSite]]] = {}
    for run in runs:
        for site in run.breaks:
            found.setdefault((site.file, site.row), []).append((run, site))
    return found


def _is_consequence(site: BreakSite) -> bool:
    return bool(site.gb_ids) and set(site.gb_ids) <= CONSEQUENCES


def _number_broken(runs: Iterable[Measured]) -> int:
    places = _all_broken(runs).values()
    return sum(1 for here in places if not all(_is_consequence(site) for _, site in here))


def _predicted(changes: Path) -> dict[tuple[Line, str], str]:
    """The rule by file name, row and kind."""
    found = json.loads(changes.read_text())["changes"]
    return {((one["path"], one["row"]), one["kind"]): one["code"] for one in found if one["code"]}


def _by(
    run: Measured, line: Line, kind: str, predicted: Mapping[tuple[Line, str], str]
) -> set[str]:
    file, row = line
    rows = statement_rows(_installed(run, file, predicted), row)
    return {
        code
        for ((path, at), what), code in predicted.items()
        if what == kind and path.endswith(f"/{file}") and at in rows
    }


def _installed(run: Measured, file: str, predicted: Mapping[tuple[Line, str], str]) -> Path:
    """The file where it was checked; the runs may have been made on another machine."""
    paths = (path for (path, _), _ in predicted)
    package = file.split("/", maxsplit=1)[0]
    root = next(
        (path.split(f"/{package}/", maxsplit=1)[0] for path in paths if f"/{package}/" in path), ""
    )
    there = Path(root) / file
    return there if there.exists() else Path(run.root) / file


if __name__ == "__main__":
    main()
